import type { Request, RequestHandler } from 'express';
import type { Client } from 'oidc-provider';
import {
  type ApiAccess,
  type ApiPrincipal,
  admitScript,
  type Guard,
  HttpError,
  type HttpExchange,
  isSameOrigin,
  setPrincipal,
} from '../http/index.ts';
import { fullyAuthenticatedAt, type Sessions } from '../sessions/index.ts';
import { orUnproven, unauthorized, unproven, wrongCaller } from './api-refusals.ts';
import { type ApiTokenDeps, authenticateToken, type PresentedToken } from './api-token.ts';
import { findChangeRefusal, refuseUser } from './api-user-rules.ts';
import { createProofCheck } from './dpop.ts';
import { isOwnScriptOrigin } from './script-origins.ts';

interface ApiGuardDeps extends ApiTokenDeps {
  publicUrl: string;
  /** 32 bytes: the secret of the provider's DPoP nonces. */
  proofNonceSecret: Buffer;
  sessions: Sessions;
  /** Loads the session of a request; run only for requests without a token. */
  session: RequestHandler;
}

const safeMethods = new Set(['GET', 'HEAD']);

/**
 * Tests whether a browser's request comes from a page of this site, or was typed. Pages of other sites get no answers
 * even to reads: they could not see them anyway.
 */
function fromOwnPage(req: Request, origin: string): boolean {
  const site = req.get('sec-fetch-site');
  const from = req.get('origin');
  if (safeMethods.has(req.method)) {
    return (site === undefined || site === 'same-origin' || site === 'none') && (from === undefined || from === origin);
  }
  return isSameOrigin({ ...(site !== undefined && { site }), ...(from !== undefined && { origin: from }) }, origin);
}

/** @throws {HttpError} without a session that authorizes the call */
async function authenticateSession(
  { req, res }: HttpExchange,
  deps: ApiGuardDeps & { origin: string },
  access: ApiAccess,
): Promise<ApiPrincipal> {
  await new Promise<void>((resolve, reject) => {
    deps.session(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });
  const found = await deps.sessions.getCurrentUser(req);
  if (!found) throw unauthorized();
  if (!fromOwnPage(req, deps.origin)) throw new HttpError('crossSite', { detail: 'session used from another site' });
  if (access.member === undefined) throw wrongCaller('not open to members');
  const { user, session } = found;
  // As in the settings.
  const authTimeMs = fullyAuthenticatedAt(user, session);
  refuseUser(deps, access, { user, amr: session.amr, authTimeMs });
  const changesRefused = access.reads ? findChangeRefusal(deps.toNextStep, user) : undefined;
  return { kind: 'member', userId: user.id, by: 'session', authTimeMs, changesRefused };
}

/**
 * The only guard of all JSON routes. A token is looked up at every call: it is opaque, so revoking it, its grant, its
 * client or its user takes effect at once. With any Authorization header, cookies are ignored (`security.md`, rule 9).
 * A session counts only for requests of this site's own pages.
 */
export function createApiGuard(settings: ApiGuardDeps): Guard {
  const deps = { ...settings, origin: new URL(settings.publicUrl).origin };
  const proofs = createProofCheck(deps.provider, { nonceSecret: deps.proofNonceSecret });

  /** The token of the header, with its proof. @throws {HttpError} */
  async function readToken({ req, res }: HttpExchange, authorization: string): Promise<PresentedToken> {
    const scheme = /^(Bearer|DPoP)( |$)/i.exec(authorization)?.[1]?.toLowerCase();
    if (scheme === undefined) throw unauthorized();
    const value = /^\w+ +([\w.~+/-]+=*)$/.exec(authorization)?.[1];
    if (value === undefined) throw unauthorized('invalid_token', 'not a token');
    const onClient = (client: Client) => {
      const origin = req.get('origin');
      if (origin !== undefined && isOwnScriptOrigin(client, origin)) admitScript({ req, res }, origin);
    };
    if (scheme !== 'dpop') return { value, proof: undefined, onClient };
    const address = deps.origin + req.originalUrl.split('?')[0];
    const proof = await orUnproven(proofs.view(req, res, { address, accessToken: value }));
    if (!proof) throw unproven('invalid_dpop_proof', 'no proof');
    return { value, proof, onClient };
  }

  return (access) => async (req, res, next) => {
    // Addresses are written to logs and histories (RFC 9700, section 4.3.2).
    if (req.query.access_token !== undefined)
      throw new HttpError('badRequest', { detail: 'access token in the address' });
    const authorization = req.get('authorization');
    // The answer depends on it.
    res.vary('Origin');
    const principal =
      authorization === undefined
        ? await authenticateSession({ req, res }, deps, access)
        : await authenticateToken(deps, await readToken({ req, res }, authorization), access);
    setPrincipal(req, principal);
    next();
  };
}
