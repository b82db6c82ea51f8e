import type { RequestHandler } from 'express';
import { consumeLimits, HttpError, type RequestContext, toRetrySeconds } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import { sha256 } from '../shared/index.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError } from './identity.ts';
import { type LogoutToken, type OidcLogout, type Provider, requireProvider } from './providers.ts';
import { formBody, handleSamlLogout, toRequestHandler } from './saml-posts.ts';

/** A provider, and its logout tokens. */
interface OidcSource {
  provider: Provider;
  oidc: OidcLogout;
}

/** GET /federation/<provider>/logout: SAML's single logout by redirect, and OpenID Connect's front-channel logout. */
export const logoutRedirects = (deps: FederationDeps): RequestHandler => toRequestHandler(deps, handleLogout);

/** The same by POST, which has a body. Anyone can send one, and it must be read to be refused. */
export function logoutPosts(deps: FederationDeps): RequestHandler[] {
  const limited: RequestHandler = async (req, res, next) => {
    const { kv, limits } = deps;
    const decision = await consumeLimits(kv, limits.upstreamLogoutPost, { address: req.ip ?? '' });
    if (!decision.allowed) throw new HttpError('tooMany', { retryAfterSeconds: toRetrySeconds(decision.retryAfterMs) });
    // Valid ones are not counted.
    res.once('finish', () => void (res.statusCode < 400 && decision.release().catch(() => {})));
    next();
  };
  return [...formBody(), limited, logoutRedirects(deps)];
}

async function handleLogout(r: RequestContext, deps: FederationDeps): Promise<void> {
  const provider = requireProvider(r, deps);
  const { oidc } = provider;
  if (!oidc) return handleSamlLogout(r, deps);
  if (r.req.method === 'POST') return handleLogoutToken(r, deps, { provider, oidc });
  await handleFrontChannelLogout(r, deps, provider);
}

const logLogout = ({ log }: FederationDeps, { id }: Provider, outcome: { outcome: string; [name: string]: unknown }) =>
  log.info({ act: 'federation', provider: id, ...outcome }, 'federation');

/**
 * OpenID Connect Back-Channel Logout 1.0, as a client: ends the sessions that a valid token names, and through them those
 * at Foyer's own client apps. A token that names none is a success, too (section 2.8).
 */
async function handleLogoutToken(r: RequestContext, deps: FederationDeps, source: OidcSource): Promise<void> {
  const { res } = r;
  res.set('Cache-Control', 'no-store');
  try {
    const token = await source.oidc.read(r.field('logout_token'));
    logLogout(deps, source.provider, { outcome: 'signed-out-there', count: await endNamed(deps, source, token) });
    res.status(200).end();
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    logLogout(deps, source.provider, { outcome: 'logout-refused', detail: error.detail });
    res.status(400).json({ error: 'invalid_request', error_description: error.detail });
  }
}

/** @throws {FederationError} over: the token was used before */
async function endNamed(
  { kv, sessions, now }: FederationDeps,
  { provider: { id: provider } }: OidcSource,
  { issuer, subject, sid, jti, untilMs }: LogoutToken,
): Promise<number> {
  const key = `oidc-logout:${provider}:${sha256(JSON.stringify([issuer, jti]))}`;
  if (!(await kv.setIfAbsent(key, '1', Math.max(1_000, untilMs - now()))))
    throw new FederationError('over', 'logout token: used before');
  return sessions.endUpstreamSessions({ provider, issuer, subject, sid });
}

/**
 * OpenID Connect Front-Channel Logout 1.0, as a client. The request comes through the browser and is not signed, so
 * anyone can write it: it ends the session of this browser alone, and only if it names the session at the provider from
 * which that one came. The answer says nothing about either.
 */
async function handleFrontChannelLogout(r: RequestContext, deps: FederationDeps, provider: Provider): Promise<void> {
  const { iss, sid } = r.req.query;
  if (typeof iss !== 'string' || typeof sid !== 'string' || sid === '')
    throw new HttpError('badRequest', { detail: `logout of ${provider.id} without iss and sid` });
  const upstream = getCurrentSession(r.req)?.upstream;
  const isNamed = upstream?.provider === provider.id && upstream.oidc?.issuer === iss && upstream.oidc.sid === sid;
  if (isNamed) {
    await deps.sessions.end(r, { provider: provider.id });
    logLogout(deps, provider, { outcome: 'signed-out-there', count: 1 });
  }
  r.res.status(200).set('Cache-Control', 'no-store').end();
}
