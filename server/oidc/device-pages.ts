import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { DeviceCodePage } from '../../views/oidc/device-code-page.tsx';
import { DeviceConfirmPage } from '../../views/oidc/device-confirm-page.tsx';
import { HttpError, type RequestContext, toRetrySeconds } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import { type KeyValueStore, StoreUnavailable } from '../store/index.ts';
import { toLogoOrigins } from './client-metadata.ts';
import type { OidcDeps } from './deps.ts';
import {
  deviceDonePath,
  devicePath,
  deviceRefusedPath,
  deviceUrl,
  readUserCode,
  staleParameter,
} from './device-addresses.ts';
import { type DevicePage, getDevicePage } from './device-flow.ts';
import { consumeUserCode, type UserCodeLimits } from './device-guesses.ts';
import { toRequestContext } from './end-session.ts';
import { addMiddlewareAt, routes } from './routes-table.ts';

interface DevicePageDeps extends OidcDeps {
  kv: KeyValueStore;
  limits: UserCodeLimits;
}

type CodePage = Extract<DevicePage, { kind: 'enter' }>;
type ConfirmPage = Extract<DevicePage, { kind: 'confirm' }>;
type EndPage = Exclude<DevicePage, CodePage | ConfirmPage>;

/** The code of the request, and whether its page follows a form that was out of date. */
interface DeviceInput {
  userCode: string;
  isStale: boolean;
}

/**
 * The pages around the library's handlers of the device flow. Attempts are counted before a code is looked up. A code
 * in the address (`verification_uri_complete`) only fills the field, so that a user who follows a link still confirms
 * twice (RFC 8628, section 5.4). The page is sent after the library has stored its session.
 */
export function createDevicePages(provider: Provider, deps: DevicePageDeps): void {
  addMiddlewareAt(provider, [routes.device_authorization], async (ctx, next) => {
    await next();
    shortenAddresses(ctx.body, deps.publicUrl);
  });
  addMiddlewareAt(provider, [routes.code_verification, `${routes.code_verification}/`], (ctx, next) =>
    runDevicePage(ctx, deps, next),
  );
}

/** Users type the address on another device: RFC 8628, section 3.2, asks for a short one. */
function shortenAddresses(answer: unknown, publicUrl: string): void {
  if (typeof answer !== 'object' || answer === null || !('verification_uri' in answer)) return;
  const short = new URL(devicePath, publicUrl).href;
  const userCode = String(Reflect.get(answer, 'user_code'));
  const complete = `${short}?${new URLSearchParams({ user_code: userCode })}`;
  Object.assign(answer, { verification_uri: short, verification_uri_complete: complete });
}

/** Runs the library's handler, and answers with the page that it selects. */
async function runDevicePage(koa: KoaContextWithOIDC, deps: DevicePageDeps, next: () => Promise<void>): Promise<void> {
  const r = toRequestContext(koa, deps);
  try {
    const inAddress = readUserCode(koa.query.user_code);
    const isStale = koa.query[staleParameter] !== undefined;
    // The library would submit it at once.
    if (koa.query.user_code !== undefined) koa.query = {};
    if (koa.method === 'POST') await countUserCode(r, deps, next);
    else await next();
    const page = getDevicePage(r.req);
    if (!page) return;
    if (page.kind !== 'enter' && page.kind !== 'confirm') return redirectToEnd(koa, page);
    const found = await deps.sessions.getCurrentUser(r.req);
    // Foyer answers from here on; the library must not write after it.
    koa.respond = false;
    const userCode = inAddress || readUserCode(koa.oidc.params?.user_code);
    if (page.kind === 'enter') return renderCodePage(r, page, { userCode, isStale });
    renderConfirmPage(r, page, { memberEmail: found?.user.email, address: deviceUrl(devicePath, { userCode }) });
  } catch (error) {
    koa.respond = false;
    deps.fail(r.req, r.res, toDeviceError(koa, error));
  }
}

/** Counts a typed code unless it is right. @throws {HttpError} tooMany */
async function countUserCode(
  { req, ip }: RequestContext,
  { kv, limits }: DevicePageDeps,
  next: () => Promise<void>,
): Promise<void> {
  const decision = await consumeUserCode(kv, limits, { ip, member: getCurrentSession(req)?.userId });
  if (!decision.allowed) {
    throw new HttpError('tooMany', {
      detail: `too many user codes: ${decision.limit}`,
      retryAfterSeconds: toRetrySeconds(decision.retryAfterMs),
    });
  }
  await next();
  const page = getDevicePage(req);
  const isWrong = page?.kind === 'enter' && page.fault === 'unknown';
  if (!isWrong) await decision.release();
}

/** Leads to the page of the result. @throws the error that the library wants to show */
function redirectToEnd(koa: KoaContextWithOIDC, page: EndPage): void {
  if (page.kind === 'failed') {
    const { error } = page;
    throw error instanceof StoreUnavailable ? error : new HttpError('internal', { cause: error });
  }
  koa.status = 303;
  koa.redirect(
    page.kind === 'done'
      ? `${deviceDonePath}?${new URLSearchParams({ client_id: page.client.clientId })}`
      : deviceRefusedPath,
  );
}

function renderCodePage(r: RequestContext, { xsrf, fault }: CodePage, { userCode, isStale }: DeviceInput): void {
  const state = r.viewAt(devicePath, { fault, userCode });
  if (!state) return;
  r.render(
    DeviceCodePage,
    {
      action: routes.code_verification,
      xsrf,
      userCode: state.userCode,
      fault: state.fault ?? (isStale ? 'stale' : undefined),
    },
    {
      title: 'oauth.device.enter.title',
      address: deviceUrl(devicePath, { userCode }),
      status: state.fault === undefined ? 200 : 400,
    },
  );
}

function renderConfirmPage(
  r: RequestContext,
  { client, xsrf, userCode }: ConfirmPage,
  { memberEmail, address }: { memberEmail: string | undefined; address: string },
): void {
  const clientName = client.clientName ?? client.clientId;
  r.render(
    DeviceConfirmPage,
    {
      action: routes.code_verification,
      fields: { xsrf, user_code: userCode },
      clientId: client.clientId,
      clientName,
      clientLogo: client.logoUri,
      userCode,
      memberEmail,
    },
    {
      title: (ctx) => ctx.t('oauth.device.confirm.title', { clientName }),
      policy: { images: toLogoOrigins(client.logoUri) },
      address,
    },
  );
}

/** Without stored data of the visitor, the library cannot store that it asks for the code again. */
function toDeviceError(koa: KoaContextWithOIDC, error: unknown): unknown {
  const isOver = error instanceof TypeError && getDevicePage(koa.req)?.kind === 'enter';
  if (!isOver) return error;
  if (koa.path !== routes.code_verification) {
    return new HttpError('requestExpired', {
      detail: 'no sign-in for a device goes on here',
      redirectTo: devicePath,
    });
  }
  const userCode = readUserCode(koa.oidc.params?.user_code);
  return new HttpError('requestExpired', {
    detail: 'the page for codes was open for too long',
    redirectTo: deviceUrl(devicePath, { userCode, isStale: true }),
  });
}
