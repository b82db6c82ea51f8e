import { type RequestHandler, urlencoded } from 'express';
import { FormPostPage } from '../../views/layout/form-post-page.tsx';
import { redirectTitle } from '../../views/layout/redirect-page.tsx';
import { consumeLimits, HttpError, keepOpener, type PageHandler, RequestContext, rateLimits } from '../http/index.ts';
import { sha256, toFlowId } from '../shared/index.ts';
import type { AttemptLookup } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError, type UpstreamIdentity } from './identity.ts';
import { finishPath, type Provider, requireProvider } from './providers.ts';
import { logRefusal, redirectRefused } from './refusals.ts';
import { maxMessageBytes } from './saml/redirect-binding.ts';
import type { LogoutMessage, SamlLogout, SamlProviderOps } from './saml/types.ts';
import { loginPageAfter, startPageSignedOut } from './sign-in-notices.ts';

type SamlProvider = Provider & { saml: SamlProviderOps };

const isSaml = (provider: Provider): provider is SamlProvider => provider.saml !== undefined;

/** @throws {HttpError} notFound */
function requireSamlProvider(r: RequestContext, deps: FederationDeps): SamlProvider {
  const provider = requireProvider(r, deps);
  if (!isSaml(provider)) throw new HttpError('notFound');
  return provider;
}

/** These routes precede the pages and their body parsers. */
export const toRequestHandler =
  (deps: FederationDeps, handler: PageHandler<FederationDeps>): RequestHandler =>
  async (req, res) => {
    await handler(new RequestContext(req, res, deps), deps);
  };

/** Only for these posts; no other form is as long. */
export function formBody(): RequestHandler[] {
  const known: RequestHandler = (req, _res, next) => {
    if (!req.is('application/x-www-form-urlencoded'))
      throw new HttpError('unsupportedType', { detail: `content type ${req.get('content-type') ?? 'absent'}` });
    next();
  };
  return [known, urlencoded({ extended: false, limit: maxMessageBytes, parameterLimit: 10 })];
}

/**
 * POST /federation/<provider>/acs (SAML 2.0 Bindings, section 3.5). It is a cross-site POST without the browser's
 * cookies: its content is stored, and the browser returns for it with a GET.
 */
export const assertionPosts = (deps: FederationDeps): RequestHandler[] => [
  ...formBody(),
  toRequestHandler(deps, handleAssertion),
];

async function handleAssertion(r: RequestContext, deps: FederationDeps): Promise<void> {
  const provider = requireSamlProvider(r, deps);
  // An unsolicited response has a RelayState of the provider; an address in it is never used.
  const found = await deps.attempts.findForAnyBrowser(toFlowId(r.field('RelayState')), provider.id);
  const attempt = found.kind === 'unknown' ? undefined : found.attempt;
  if (attempt?.popup) keepOpener(r.res);
  const outcome = await read(r, deps, { provider, found }).then(
    (identity) => ({ kind: 'identity' as const, identity }),
    (error: unknown) => ({ kind: 'refused' as const, why: logRefusal(r, deps, { provider, error, attempt }).kind }),
  );
  // Nothing is stored for refused responses without an attempt, so that strangers cannot fill the store.
  if (outcome.kind === 'refused' && (attempt === undefined || outcome.why === 'too-many'))
    return r.redirect(loginPageAfter(undefined, provider, outcome.why));
  const ticket = await deps.tickets.create({ provider: provider.id, attempt: attempt?.id, outcome });
  r.redirect(`${finishPath(provider.id)}?${new URLSearchParams({ ticket })}`);
}

async function read(
  r: RequestContext,
  { kv, limits, now }: FederationDeps,
  { provider: { id, saml }, found }: { provider: SamlProvider; found: AttemptLookup },
): Promise<UpstreamIdentity> {
  if (found.kind !== 'unknown') {
    // A browser may send a response again; more than a few are an attack, because verification takes time.
    const decision = await consumeLimits(kv, rateLimits.samlResponse, { flow: sha256(found.attempt.id) });
    if (!decision.allowed) throw new FederationError('too-many', 'too many responses to one attempt');
    if (found.kind === 'expired') throw new FederationError('over', 'response to an expired attempt');
    return (await saml.receive(r.req, found.attempt)).identity;
  }
  // An attempt was already counted when it started.
  const decision = await consumeLimits(kv, limits.unsolicitedSamlResponse, { address: r.ip });
  if (!decision.allowed) throw new FederationError('too-many', 'too many unsolicited responses from one network');
  const { identity, assertionId, untilMs } = await saml.receive(r.req, undefined);
  const fresh = await kv.setIfAbsent(
    `saml-assertion:${id}:${sha256(assertionId)}`,
    '1',
    Math.max(1_000, untilMs - now()),
  );
  if (!fresh) throw new FederationError('over', 'assertion already used');
  return identity;
}

/** A parameter of a logout message, which comes in the address or in a form. */
const readParameter = (r: RequestContext, name: string) =>
  r.req.method === 'POST' ? r.field(name) : r.req.query[name];

/** SAML's single logout, by redirect and by POST (SAML 2.0 Profiles, section 4.4). */
export async function handleSamlLogout(r: RequestContext, deps: FederationDeps): Promise<void> {
  const provider = requireSamlProvider(r, deps);
  const { logout } = provider.saml;
  if (!logout) throw new HttpError('notFound');
  const message = await readLogoutMessage(r, provider, logout);
  if (message?.kind === 'request') return r.redirect(await endUpstreamSessions(deps, provider, message));
  const relayState = readParameter(r, 'RelayState');
  const id = toFlowId(typeof relayState === 'string' ? relayState : '');
  const deletion = await deps.pendingLogouts.take(id, provider.id);
  const ended = message?.success === true && deletion?.requestId === message.inResponseTo;
  r.redirect(deletion?.returnTo ?? (ended || !deletion ? '/' : startPageSignedOut(provider)));
}

/** @returns undefined: an invalid response. @throws {HttpError} badRequest: an invalid request */
async function readLogoutMessage(
  r: RequestContext,
  provider: SamlProvider,
  logout: SamlLogout,
): Promise<LogoutMessage | undefined> {
  try {
    return await logout.read(r.req);
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    const { detail } = error;
    r.log.info({ act: 'federation', provider: provider.id, outcome: 'logout-refused', detail }, 'federation');
    // Only the redirect of this browser depends on a logout response.
    if (readParameter(r, 'SAMLResponse')) return undefined;
    throw new HttpError('badRequest', { detail: `logout of ${provider.id}: ${detail}` });
  }
}

/** Ends the sessions that a request of the provider names. @returns the address of the response */
async function endUpstreamSessions(
  { kv, sessions, log, now }: FederationDeps,
  { id }: SamlProvider,
  request: Extract<LogoutMessage, { kind: 'request' }>,
): Promise<string> {
  const key = `saml-logout:${id}:${sha256(request.id)}`;
  if (!(await kv.setIfAbsent(key, '1', Math.max(1_000, request.untilMs - now()))))
    throw new HttpError('badRequest', { detail: `logout of ${id} already used` });
  const count = await sessions.endUpstreamSessions({
    provider: id,
    nameId: request.nameId,
    indexes: request.sessionIndexes,
  });
  log.info({ act: 'federation', provider: id, outcome: 'signed-out-there', count }, 'federation');
  return request.answer();
}

/** GET /federation/<provider>/metadata (SAML 2.0 Metadata). */
export async function showMetadata(r: RequestContext, deps: FederationDeps): Promise<void> {
  const { saml } = requireSamlProvider(r, deps);
  r.res.type('application/samlmetadata+xml').send(await saml.metadata());
}

/**
 * GET /federation/<provider>/request?attempt=: the page that posts the request of this browser's attempt (SAML 2.0
 * Bindings, section 3.5). It has no form of Foyer's before it, so its own policy allows the provider's address.
 */
export async function showRequestForm(r: RequestContext, deps: FederationDeps): Promise<void> {
  const provider = requireSamlProvider(r, deps);
  const { requestForm } = provider.saml;
  if (!requestForm) throw new HttpError('notFound');
  const found = await deps.attempts.find(r.req, toFlowId(r.query('attempt') ?? ''), provider.id);
  if (found.kind !== 'started') {
    const attempt = found.kind === 'unknown' ? undefined : found.attempt;
    const error = new FederationError('over', 'request of an attempt that is over or unknown');
    return redirectRefused(r, deps, { provider, attempt, error });
  }
  if (found.attempt.popup) keepOpener(r.res);
  const form = await requestForm(found.attempt);
  const to = { providerName: provider.name };
  r.render(
    FormPostPage,
    { ...form, to, submits: true },
    { title: (ctx) => redirectTitle(ctx, to), policy: { formAction: [new URL(form.action).origin] } },
  );
}
