import type { Request, Response } from 'express';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { createElement } from 'react';
import { DeviceCodePage } from '../../views/oidc/device-code-page.tsx';
import { DeviceConfirmPage } from '../../views/oidc/device-confirm-page.tsx';
import { DeviceEndPage } from '../../views/oidc/device-end-page.tsx';
import { HttpError, readQueryParam, toRetrySeconds } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import { type KeyValueStore, StoreUnavailable } from '../store/index.ts';
import type { Handler, OauthDeps } from './deps.ts';
import { type DevicePage, getDevicePage } from './device-flow.ts';
import { consumeUserCode, type UserCodeLimits } from './device-guesses.ts';
import { routes } from './routes-table.ts';

/** Short, because users type it. Language buttons can return to it. */
export const devicePath = '/device';
export const deviceDonePath = `${devicePath}/done`;
export const deviceRefusedPath = `${devicePath}/refused`;

/** The form was sent without the session that its page started. */
const staleParameter = 'stale';

const maxCharacters = 40;
const typed = (value: unknown) => (typeof value === 'string' ? value.slice(0, maxCharacters) : '');

function toOrigins(url: string | undefined): string[] {
  const origin = url === undefined ? undefined : URL.parse(url)?.origin;
  return origin === undefined || origin === 'null' ? [] : [origin];
}

/**
 * The pages around the library's handlers of the device flow. Attempts are counted before a code is looked up. A code
 * in the address (`verification_uri_complete`) only fills the field, so that a user who follows a link still confirms
 * twice (RFC 8628, section 5.4). The page is sent after the library has stored its session.
 */
export function createDevicePages(
  provider: Provider,
  deps: OauthDeps,
  { kv, limits }: { kv: KeyValueStore; limits: UserCodeLimits },
): void {
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path === routes.device_authorization) shorten(ctx.body);
  });
  provider.use((ctx, next) =>
    ctx.path === routes.code_verification || ctx.path.startsWith(`${routes.code_verification}/`)
      ? around(ctx as KoaContextWithOIDC, next)
      : next(),
  );

  async function around(koa: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
    const [req, res] = [koa.req as Request, koa.res as Response];
    try {
      const inAddress = typed(koa.query.user_code);
      const wasStale = koa.query[staleParameter] !== undefined;
      // The library would submit it at once.
      if (koa.query.user_code !== undefined) koa.query = {};
      if (koa.method === 'POST') await counted(req, next);
      else await next();
      const view = getDevicePage(req);
      if (view) await send(koa, view, { userCode: inAddress || typed(koa.oidc.params?.user_code), wasStale });
    } catch (error) {
      koa.respond = false;
      // Without stored data of the visitor, the library cannot store that it asks for the code again.
      const isOver = error instanceof TypeError && getDevicePage(req)?.kind === 'enter';
      if (!isOver) return deps.fail(req, res, error);
      const isCodePage = koa.path === routes.code_verification;
      const redirectTo = isCodePage ? codePageAgain(typed(koa.oidc.params?.user_code)) : devicePath;
      const detail = isCodePage ? 'the page for codes was open for too long' : 'no sign-in for a device goes on here';
      deps.fail(req, res, new HttpError('requestExpired', { detail, redirectTo }));
    }
  }

  /** Users type the address on another device: RFC 8628, section 3.2, asks for a short one. */
  function shorten(answer: unknown): void {
    if (typeof answer !== 'object' || answer === null || !('verification_uri' in answer)) return;
    const short = new URL(devicePath, deps.publicUrl).href;
    const userCode = String(Reflect.get(answer, 'user_code'));
    const complete = `${short}?${new URLSearchParams({ user_code: userCode })}`;
    Object.assign(answer, { verification_uri: short, verification_uri_complete: complete });
  }

  async function counted(req: Request, next: () => Promise<void>): Promise<void> {
    const decision = await consumeUserCode(kv, limits, { ip: req.ip ?? '', member: getCurrentSession(req)?.userId });
    if (!decision.allowed) {
      throw new HttpError('tooMany', {
        detail: `too many user codes: ${decision.limit}`,
        retryAfterSeconds: toRetrySeconds(decision.retryAfterMs),
      });
    }
    await next();
    const view = getDevicePage(req);
    const wrong = view?.kind === 'enter' && view.fault === 'unknown';
    if (!wrong) await decision.release();
  }

  async function send(
    koa: KoaContextWithOIDC,
    view: DevicePage,
    { userCode, wasStale }: { userCode: string; wasStale: boolean },
  ): Promise<void> {
    const [req, res] = [koa.req as Request, koa.res as Response];
    switch (view.kind) {
      case 'done':
        koa.status = 303;
        return koa.redirect(`${deviceDonePath}?${new URLSearchParams({ client_id: view.client.clientId })}`);
      case 'refused':
        koa.status = 303;
        return koa.redirect(deviceRefusedPath);
      case 'failed': {
        const { error } = view;
        throw error instanceof StoreUnavailable ? error : new HttpError('internal', { cause: error });
      }
    }
    const member = await deps.sessions.getCurrentUser(req);
    // Foyer answers from here on; the library must not write after it.
    koa.respond = false;
    const { xsrf } = view;
    const address = userCode === '' ? devicePath : `${devicePath}?${new URLSearchParams({ user_code: userCode })}`;
    if (view.kind === 'enter') {
      const displayed = deps.pages.shownAt(req, res, devicePath, { fault: view.fault, userCode });
      if (!displayed) return;
      const refused = { ...displayed, fault: displayed.fault ?? (wasStale ? ('stale' as const) : undefined) };
      return deps.pages.send(
        req,
        res,
        displayed.fault === undefined ? 200 : 400,
        (ctx) => createElement(DeviceCodePage, { ctx, action: routes.code_verification, xsrf, ...refused }),
        { title: (ctx) => ctx.t('oauth.device.enter.title'), address },
      );
    }
    const { client } = view;
    const clientName = client.clientName ?? client.clientId;
    deps.pages.send(
      req,
      res,
      200,
      (ctx) =>
        createElement(DeviceConfirmPage, {
          ctx,
          action: routes.code_verification,
          fields: { xsrf, user_code: view.userCode },
          clientName,
          clientLogo: client.logoUri,
          userCode: view.userCode,
          memberEmail: member?.user.email,
        }),
      {
        title: (ctx) => ctx.t('oauth.device.confirm.title', { clientName }),
        policy: { images: toOrigins(client.logoUri) },
        address,
      },
    );
  }
}

/** The page for codes, with the code still in its field and a notice that the previous page was out of date. */
function codePageAgain(userCode: string): string {
  return `${devicePath}?${new URLSearchParams({ ...(userCode !== '' && { user_code: userCode }), [staleParameter]: '1' })}`;
}

/** GET /device: the short address of the page for codes. */
export const redirectToDevicePage: Handler = (req, res) => {
  const userCode = typed(readQueryParam(req, 'user_code'));
  const search = new URLSearchParams({
    ...(userCode !== '' && { user_code: userCode }),
    ...(readQueryParam(req, staleParameter) !== undefined && { [staleParameter]: '1' }),
  });
  res.redirect(303, routes.code_verification + (search.size > 0 ? `?${search}` : ''));
};

/** GET /device/done and /device/refused: the result, at an address that can be reloaded. */
export function showDeviceEnd(deps: OauthDeps, end: 'done' | 'refused'): Handler {
  return async (req, res) => {
    await deps.sessions.getCurrentUser(req);
    const id = end === 'done' ? readQueryParam(req, 'client_id') : undefined;
    const client = id === undefined ? undefined : await deps.provider().Client.find(id);
    deps.pages.send(
      req,
      res,
      200,
      (ctx) => createElement(DeviceEndPage, { ctx, end, clientName: client?.clientName ?? client?.clientId }),
      { title: (ctx) => ctx.t(`oauth.device.${end}.title`) },
    );
  };
}
