import { type Request, type RequestHandler, urlencoded } from 'express';
import { HttpError, keepOpener, readFormField, toRetrySeconds } from '../http/index.ts';
import { consumeLimits, rateLimits } from '../rate-limits/index.ts';
import { sha256, toFlowId } from '../shared/index.ts';

import { logRefusal, requireProvider } from './callback.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError, type UpstreamIdentity } from './identity.ts';
import { finishPath, type Provider } from './providers.ts';
import { maxMessageBytes } from './saml/redirect-binding.ts';
import type { SamlProviderOps } from './saml/types.ts';
import { loginPageUrl, signedOutUrl } from './sign-in-notices.ts';

type SamlProvider = Provider & { saml: SamlProviderOps };

/** @throws {HttpError} notFound */
function requireSamlProvider(deps: FederationDeps, req: Request): SamlProvider {
  const provider = requireProvider(deps, req);
  if (!provider.saml) throw new HttpError('notFound');
  return provider as SamlProvider;
}

/** Only for these posts; no other form is as long. */
function formBody(): RequestHandler[] {
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
export function handleAssertion(deps: FederationDeps): RequestHandler[] {
  const { attempts, tickets } = deps;
  const handler: RequestHandler = async (req, res) => {
    const provider = requireSamlProvider(deps, req);
    const relayState = readFormField(req, 'RelayState');
    // An unsolicited response has a RelayState of the provider; an address in it is never used.
    const found = await attempts.find(req, toFlowId(relayState), provider.id, { anyBrowser: true });
    const attempt = found.state === 'unknown' ? undefined : found.attempt.id;
    if (found.state !== 'unknown' && found.attempt.popup) keepOpener(res);
    const outcome = await read(deps, provider, req, found).then(
      (identity) => ({ kind: 'identity' as const, identity }),
      (error: unknown) => ({ kind: 'refused' as const, why: logRefusal(deps, provider, error).kind }),
    );
    // Nothing is stored for refused responses without an attempt, so that strangers cannot fill the store.
    if (outcome.kind === 'refused' && (attempt === undefined || outcome.why === 'too-many'))
      return res.redirect(303, loginPageUrl(undefined, provider, outcome.why));
    const ticket = await tickets.create({ provider: provider.id, attempt, outcome });
    res.redirect(303, `${finishPath(provider.id)}?${new URLSearchParams({ ticket })}`);
  };
  return [...formBody(), handler];
}

type AttemptLookup = Awaited<ReturnType<FederationDeps['attempts']['find']>>;

async function read(
  { kv, limits, now }: FederationDeps,
  { id, saml }: SamlProvider,
  req: Request,
  found: AttemptLookup,
): Promise<UpstreamIdentity> {
  if (found.state !== 'unknown') {
    // A browser may send a response again; more than a few are an attack, because verification takes time.
    const decision = await consumeLimits(kv, rateLimits.samlResponse, { flow: sha256(found.attempt.id) });
    if (!decision.allowed) throw new FederationError('too-many', 'too many responses to one attempt');
    if (found.state === 'expired') throw new FederationError('over', 'response to an expired attempt');
    return (await saml.receive(req, found.attempt)).identity;
  }
  // An attempt was already counted when it started.
  const decision = await consumeLimits(kv, limits.unsolicitedSamlResponse, { address: req.ip ?? '' });
  if (!decision.allowed) throw new FederationError('too-many', 'too many unsolicited responses from one network');
  const { identity, assertionId, untilMs } = await saml.receive(req, undefined);
  const fresh = await kv.setIfAbsent(
    `saml-assertion:${id}:${sha256(assertionId)}`,
    '1',
    Math.max(1_000, untilMs - now()),
  );
  if (!fresh) throw new FederationError('over', 'assertion already used');
  return identity;
}

/** GET and POST /federation/<provider>/logout (SAML 2.0 Profiles, section 4.4). */
export function handleLogoutRedirect(deps: FederationDeps): RequestHandler[] {
  const { kv, pendingLogouts, sessions, log, now } = deps;
  const handler: RequestHandler = async (req, res) => {
    const provider = requireSamlProvider(deps, req);
    const { logout } = provider.saml;
    if (!logout) throw new HttpError('notFound');
    const posted = req.method === 'POST';
    const input = (name: string) => (posted ? readFormField(req, name) : req.query[name]);
    const message = await logout.read(req).catch((error: unknown) => {
      if (!(error instanceof FederationError)) throw error;
      const { detail } = error;
      log.info({ act: 'federation', provider: provider.id, outcome: 'logout-refused', detail }, 'federation');
      // Only the redirect of this browser depends on a logout response.
      if (input('SAMLResponse')) return undefined;
      throw new HttpError('badRequest', { detail: `logout of ${provider.id}: ${detail}` });
    });
    if (message?.kind === 'request') {
      const key = `saml-logout:${provider.id}:${sha256(message.id)}`;
      if (!(await kv.setIfAbsent(key, '1', Math.max(1_000, message.untilMs - now()))))
        throw new HttpError('badRequest', { detail: `logout of ${provider.id} already used` });
      const count = await sessions.endUpstreamSessions(provider.id, message.nameId, message.sessionIndexes);
      log.info({ act: 'federation', provider: provider.id, outcome: 'signed-out-there', count }, 'federation');
      return res.redirect(303, await message.answer());
    }
    const relayState = input('RelayState');
    const deletion = await pendingLogouts.take(toFlowId(typeof relayState === 'string' ? relayState : ''), provider.id);
    const ended = message?.success === true && deletion?.requestId === message.inResponseTo;
    res.redirect(303, deletion?.returnTo ?? (ended || !deletion ? '/' : signedOutUrl(provider)));
  };
  return [handler];
}

/** The same by POST, which has a body. Anyone can send one, and it must be read to be refused. */
export function handleLogoutPost(deps: FederationDeps): RequestHandler[] {
  const limited: RequestHandler = async (req, res, next) => {
    const { kv, limits } = deps;
    const decision = await consumeLimits(kv, limits.samlLogoutPost, { address: req.ip ?? '' });
    if (!decision.allowed) throw new HttpError('tooMany', { retryAfterSeconds: toRetrySeconds(decision.retryAfterMs) });
    // Valid ones are not counted.
    res.once('finish', () => void (res.statusCode < 400 && decision.release().catch(() => {})));
    next();
  };
  return [...formBody(), limited, ...handleLogoutRedirect(deps)];
}

/** GET /federation/<provider>/metadata (SAML 2.0 Metadata). */
export function showMetadata(deps: FederationDeps): RequestHandler {
  return (req, res) => {
    const { saml } = requireSamlProvider(deps, req);
    res.type('application/samlmetadata+xml').send(saml.metadata());
  };
}
