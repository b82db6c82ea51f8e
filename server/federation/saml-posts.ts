import { type Request, type RequestHandler, urlencoded } from 'express';
import { field, HttpError, keepOpener, retrySeconds } from '../http/index.ts';
import { consumeLimits, rateLimits } from '../rate-limits/index.ts';
import { sha256 } from '../shared/index.ts';

import { providerOf, reportRefusal } from './callback.ts';
import type { FederationDeps } from './deps.ts';
import { FederationRefusal, type UpstreamIdentity } from './identity.ts';
import { signedOutPath, wayBack } from './notices.ts';
import { finishPath, type Provider } from './providers.ts';
import { mostMessageBytes } from './saml/redirect-binding.ts';
import type { SamlSide } from './saml/side.ts';

type SamlProvider = Provider & { saml: SamlSide };

/** @throws {HttpError} notFound */
function samlProviderOf(deps: FederationDeps, req: Request): SamlProvider {
  const provider = providerOf(deps, req);
  if (!provider.saml) throw new HttpError('notFound');
  return provider as SamlProvider;
}

/** Nothing else reads these posts, and no other form of the house is as long. */
function formBody(): RequestHandler[] {
  const known: RequestHandler = (req, _res, next) => {
    if (!req.is('application/x-www-form-urlencoded'))
      throw new HttpError('unsupportedType', { detail: `content type ${req.get('content-type') ?? 'absent'}` });
    next();
  };
  return [known, urlencoded({ extended: false, limit: mostMessageBytes, parameterLimit: 10 })];
}

/**
 * POST /federation/<provider>/acs (SAML 2.0 Bindings, section 3.5). It comes from another site, so without the browser's
 * cookies: what it says is put down as a ticket, and the browser comes back for it with a GET.
 */
export function receiveAssertion(deps: FederationDeps): RequestHandler[] {
  const { attempts, tickets } = deps;
  const handler: RequestHandler = async (req, res) => {
    const provider = samlProviderOf(deps, req);
    const relayState = field(req, 'RelayState');
    // Of a provider's own making where nobody asked; an address in it is never gone to.
    const found = await attempts.find(req, relayState, provider.id, { anyBrowser: true });
    const attempt = found.state === 'foreign' ? undefined : found.attempt.id;
    if (found.state !== 'foreign' && found.attempt.popup) keepOpener(res);
    const outcome = await read(deps, provider, req, found).then(
      (identity) => ({ kind: 'identity' as const, identity }),
      (error: unknown) => ({ kind: 'refused' as const, why: reportRefusal(deps, provider, error).kind }),
    );
    // Nothing is put down for whoever sends more than is read: the store is not theirs to fill.
    if (outcome.kind === 'refused' && (attempt === undefined || outcome.why === 'too-many'))
      return res.redirect(303, wayBack(undefined, provider, outcome.why));
    const ticket = await tickets.create({ provider: provider.id, attempt, outcome });
    res.redirect(303, `${finishPath(provider.id)}?${new URLSearchParams({ ticket })}`);
  };
  return [...formBody(), handler];
}

type Found = Awaited<ReturnType<FederationDeps['attempts']['find']>>;

async function read(
  { kv, limits, now }: FederationDeps,
  { id, saml }: SamlProvider,
  req: Request,
  found: Found,
): Promise<UpstreamIdentity> {
  if (found.state !== 'foreign') {
    // A browser may send an answer again; whoever sends many only wants to keep us busy: reading one takes time.
    const decision = await consumeLimits(kv, rateLimits.samlResponse, { flow: sha256(found.attempt.id) });
    if (!decision.allowed) throw new FederationRefusal('too-many', 'answers to one attempt');
    if (found.state === 'over') throw new FederationRefusal('over', 'an answer to an attempt that is over');
    return (await saml.receive(req, found.attempt)).identity;
  }
  // Whoever has an attempt was counted when it began.
  const decision = await consumeLimits(kv, limits.unsolicitedSamlResponse, { address: req.ip ?? '' });
  if (!decision.allowed) throw new FederationRefusal('too-many', 'answers for which nobody asked, of one network');
  const { identity, assertionId, untilMs } = await saml.receive(req, undefined);
  const fresh = await kv.setIfAbsent(
    `saml-assertion:${id}:${sha256(assertionId)}`,
    '1',
    Math.max(1_000, untilMs - now()),
  );
  if (!fresh) throw new FederationRefusal('over', 'an assertion that was taken before');
  return identity;
}

/** GET and POST /federation/<provider>/logout (SAML 2.0 Profiles, section 4.4). */
export function receiveLogout(deps: FederationDeps): RequestHandler[] {
  const { kv, leavings, sessions, log, now } = deps;
  const handler: RequestHandler = async (req, res) => {
    const provider = samlProviderOf(deps, req);
    const { logout } = provider.saml;
    if (!logout) throw new HttpError('notFound');
    const posted = req.method === 'POST';
    const given = (name: string) => (posted ? field(req, name) : req.query[name]);
    const message = await logout.read(req).catch((error: unknown) => {
      if (!(error instanceof FederationRefusal)) throw error;
      const { detail } = error;
      log.info({ act: 'federation', provider: provider.id, outcome: 'logout-refused', detail }, 'federation');
      // Of an answer nothing hangs but where the browser goes on.
      if (given('SAMLResponse')) return undefined;
      throw new HttpError('badRequest', { detail: `a logout of ${provider.id}: ${detail}` });
    });
    if (message?.kind === 'request') {
      const key = `saml-logout:${provider.id}:${sha256(message.id)}`;
      if (!(await kv.setIfAbsent(key, '1', Math.max(1_000, message.untilMs - now()))))
        throw new HttpError('badRequest', { detail: `a logout of ${provider.id} that was taken before` });
      const count = await sessions.endUpstream(provider.id, message.nameId, message.sessionIndexes);
      log.info({ act: 'federation', provider: provider.id, outcome: 'signed-out-there', count }, 'federation');
      return res.redirect(303, await message.answer());
    }
    const relayState = given('RelayState');
    const leaving = await leavings.take(typeof relayState === 'string' ? relayState : '', provider.id);
    const ended = message?.success === true && leaving?.requestId === message.inResponseTo;
    res.redirect(303, leaving?.returnTo ?? (ended || !leaving ? '/' : signedOutPath(provider)));
  };
  return [handler];
}

/** The same by post, which brings a body of its own. Anybody may send one, and it must be read to be refused. */
export function receiveLogoutPost(deps: FederationDeps): RequestHandler[] {
  const limited: RequestHandler = async (req, res, next) => {
    const { kv, limits } = deps;
    const decision = await consumeLimits(kv, limits.samlLogoutPost, { address: req.ip ?? '' });
    if (!decision.allowed) throw new HttpError('tooMany', { retryAfterSeconds: retrySeconds(decision.retryAfterMs) });
    // One that was right is none of those that are counted.
    res.once('finish', () => void (res.statusCode < 400 && decision.release().catch(() => {})));
    next();
  };
  return [...formBody(), limited, ...receiveLogout(deps)];
}

/** GET /federation/<provider>/metadata (SAML 2.0 Metadata). */
export function showMetadata(deps: FederationDeps): RequestHandler {
  return (req, res) => {
    const { saml } = samlProviderOf(deps, req);
    res.type('application/samlmetadata+xml').send(saml.metadata());
  };
}
