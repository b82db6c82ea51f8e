import type { Request, RequestHandler, Response } from 'express';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import {
  type ApiAccess,
  type ApiPrincipal,
  type Guard,
  HttpError,
  isRecentAt,
  isSameOrigin,
  permits,
  recentAuthMs,
  setPrincipal,
} from '../http/index.ts';
import { fullyAuthenticatedAt, type Sessions } from '../sessions/index.ts';
import { type ClientId, toClientId, toUserId } from '../shared/index.ts';
import { mustSetUpSecondFactor, type Step } from '../sign-in/index.ts';
import type { Database } from '../store/index.ts';
import { findCurrentUser, type User } from '../users/index.ts';
import type { CanAccessClient } from './access-rule.ts';
import { toAuthentication } from './access-token-claims.ts';
import { mayHoldSensitive } from './client-metadata.ts';
import { createProofCheck, type PresentedProof, proofAlgorithms } from './dpop.ts';
import { canonicalScopes, isSensitiveScope } from './scopes.ts';

interface ApiGuardDeps {
  publicUrl: string;
  /** 32 bytes: the secret of the provider's DPoP nonces. */
  proofNonceSecret: Buffer;
  database: Database;
  provider: () => Provider;
  sessions: Sessions;
  mayEnter: CanAccessClient;
  /** The next step of a user, from the sign-in. */
  toNextStep: (user: User) => Step;
  /** Loads the session of a request; run only for requests without a token. */
  session: RequestHandler;
  now: () => number;
}

/** RFC 6750, section 3: WWW-Authenticate names what the caller lacks. */
const challenge = (...parameters: string[]) => ({
  headers: { 'WWW-Authenticate': ['Bearer realm="api"', ...parameters].join(', ') },
});

/** RFC 9449, section 7.1: the other authentication scheme for tokens. */
const proofChallenge = (...parameters: string[]) =>
  ['DPoP realm="api"', ...parameters, `algs="${proofAlgorithms.join(' ')}"`].join(', ');

function unauthorized(error?: 'invalid_token', description?: string): HttpError {
  if (error === undefined) {
    const headers = { 'WWW-Authenticate': `Bearer realm="api", ${proofChallenge()}` };
    return new HttpError('unauthorized', { detail: 'no credentials', headers });
  }
  const parameters = [`error="${error}"`, `error_description="${description}"`];
  return new HttpError('tokenRevoked', { detail: description ?? error, ...challenge(...parameters) });
}

function unproven(error: string, description: string): HttpError {
  const parameters = [`error="${error}"`, `error_description="${description.replaceAll('"', "'")}"`];
  return new HttpError('unauthorized', {
    detail: description,
    headers: { 'WWW-Authenticate': proofChallenge(...parameters) },
  });
}

/** Converts the library's errors of a proof to answers of this API. */
async function orUnproven<T>(check: Promise<T>): Promise<T> {
  try {
    return await check;
  } catch (error) {
    if (!(error instanceof errors.OIDCProviderError)) throw error;
    throw unproven(error.error, error.error_description ?? error.error);
  }
}

/** Valid credentials that do not authorize this call; `scope` names the missing scope. */
function insufficient(detail: string, scope?: string): HttpError {
  const parameters = ['error="insufficient_scope"', ...(scope === undefined ? [] : [`scope="${scope}"`])];
  return new HttpError('insufficientScope', { detail, ...challenge(...parameters) });
}

/**
 * The rule requires a recent authentication with all factors of the user. RFC 9470, section 3: `max_age` names the age,
 * and `acr_values` is present if the second factor is missing, so that the client app can ask for both.
 */
function refuseLate(
  { recent }: ApiAccess,
  { user, amr, authTimeMs }: { user: User; amr: readonly string[]; authTimeMs: number | undefined },
  nowMs: number,
): void {
  const hasFactor = user.mfaPreference !== 'none';
  if (recent === undefined || (recent === 'with-second-factor' && !hasFactor) || isRecentAt(authTimeMs, nowMs)) return;
  const lacksFactor = hasFactor && !amr.includes('mfa');
  throw new HttpError('insufficientAuthentication', {
    detail: lacksFactor ? 'authenticated without the second factor' : 'authenticated too long ago',
    ...challenge(
      'error="insufficient_user_authentication"',
      `error_description="${lacksFactor ? 'the second factor is needed' : 'a more recent authentication is needed'}"`,
      ...(lacksFactor ? ['acr_values="aal2"'] : []),
      `max_age=${recentAuthMs / 1000}`,
    ),
  });
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

/**
 * The only guard of all JSON routes. A token is looked up at every call: it is opaque, so revoking it, its grant, its
 * client or its user takes effect at once. With any Authorization header, cookies are ignored (`security.md`, rule 9).
 * A session counts only for requests of this site's own pages.
 */
export function createApiGuard(deps: ApiGuardDeps): Guard {
  const { publicUrl, database, provider, sessions, session, mayEnter, toNextStep, now } = deps;
  const { origin } = new URL(publicUrl);
  const proofs = createProofCheck(provider, { nonceSecret: deps.proofNonceSecret });

  /**
   * Steps that block a user on the pages also block the calls. Without a required second factor only its set-up is
   * open; before new terms are accepted only reads are. Reads stay open so that a client app does not fail for all
   * users on the day of new terms; the next sign-in, also a silent one, asks for them.
   */
  function refuseUnready(user: User, { settingUp, reads }: ApiAccess): void {
    if (mustSetUpSecondFactor(user) && !settingUp)
      throw new HttpError('forbidden', { detail: 'second factor required but not set up' });
    if (reads) return;
    const { kind } = toNextStep(user);
    if (kind === 'accept-terms') throw new HttpError('termsNotAccepted', { detail: 'new terms' });
    if (kind === 'confirm-email') throw new HttpError('forbidden', { detail: 'email address not verified' });
  }

  /** A token that is bound to a key needs a proof of that key; a proof must belong to the token. */
  async function sameKey(token: { jkt?: string | undefined }, clientId: ClientId, proof: PresentedProof | undefined) {
    if (proof) await orUnproven(proof.use(clientId));
    if (token.jkt === proof?.thumbprint) return;
    throw unproven('invalid_token', proof ? 'not bound to the key of the proof' : 'bound to a key: DPoP is needed');
  }

  async function byToken(value: string, access: ApiAccess, proof: PresentedProof | undefined): Promise<ApiPrincipal> {
    const { AccessToken, ClientCredentials, Client, Grant } = provider();
    const ofMember = await AccessToken.find(value);
    const token = ofMember ?? (await ClientCredentials.find(value));
    // A token for a resource server is not valid here.
    if (!token?.isValid || token.aud !== undefined) throw unauthorized('invalid_token', 'unknown, expired or revoked');
    const client = await Client.find(token.clientId ?? '');
    if (!client) throw unauthorized('invalid_token', 'its client is gone');
    await sameKey(token, toClientId(client.clientId), proof);
    const registered = (client.scope ?? '').split(' ');
    if (!ofMember) {
      if (access.client === undefined) throw insufficient('not open to client apps');
      // The registration of the client may have lost the grant type since the token was issued.
      const mayAct = client.grantTypeAllowed('client_credentials');
      const scopes = [...token.scopes].filter((scope) => mayAct && registered.includes(scope));
      const perMinute = client.calls_per_minute;
      const callsPerMinute = typeof perMinute === 'number' ? perMinute : undefined;
      const principal: ApiPrincipal = { kind: 'client', clientId: toClientId(client.clientId), scopes, callsPerMinute };
      if (!permits(access, principal)) throw insufficient(`lacks ${access.client}`, access.client);
      return principal;
    }
    const grant = await Grant.find(ofMember.grantId ?? '');
    const user = await findCurrentUser(database, toUserId(ofMember.accountId ?? ''));
    if (
      !grant ||
      grant.clientId !== client.clientId ||
      !user ||
      grant.accountId !== user.id ||
      user.disabledAt !== null
    ) {
      throw unauthorized('invalid_token', 'Access Token has been revoked');
    }
    if (!mayEnter(client, user)) throw unauthorized('invalid_token', 'the client is for other plans');
    if (access.member === undefined) throw insufficient('not available to users');
    // A client that has these scopes from an older registration, or by other means, may use them only if it could be
    // registered with them today.
    const holds = mayHoldSensitive(client.metadata());
    const scopes = canonicalScopes(token.scopes).filter(
      (scope) => !isSensitiveScope(scope) || (holds && registered.includes(scope)),
    );
    const rows = toAuthentication(ofMember);
    const authTimeMs = fullyAuthenticatedAt(user, rows);
    const principal: ApiPrincipal = { kind: 'member', userId: user.id, by: 'token', scopes, authTimeMs };
    if (!permits(access, principal)) throw insufficient(`lacks ${access.member}`, access.member);
    refuseUnready(user, access);
    refuseLate(access, { user, amr: rows.amr, authTimeMs }, now());
    return principal;
  }

  async function bySession(req: Request, res: Response, access: ApiAccess): Promise<ApiPrincipal> {
    await new Promise<void>((resolve, reject) => {
      session(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    });
    const member = await sessions.getCurrentUser(req);
    if (!member) throw unauthorized();
    if (!fromOwnPage(req, origin)) throw new HttpError('crossSite', { detail: 'session used from another site' });
    if (access.member === undefined) throw new HttpError('forbidden', { detail: 'not available to users' });
    refuseUnready(member.user, access);
    // As in the settings.
    const authTimeMs = fullyAuthenticatedAt(member.user, member.session);
    refuseLate(access, { user: member.user, amr: member.session.amr, authTimeMs }, now());
    return { kind: 'member', userId: member.user.id, by: 'session', authTimeMs };
  }

  return (access) => async (req, res, next) => {
    // Addresses are written to logs and histories (RFC 9700, section 4.3.2).
    if (req.query.access_token !== undefined)
      throw new HttpError('badRequest', { detail: 'access token in the address' });
    const authorization = req.get('authorization');
    if (authorization === undefined) {
      setPrincipal(req, await bySession(req, res, access));
      return next();
    }
    const scheme = /^(Bearer|DPoP)( |$)/i.exec(authorization)?.[1]?.toLowerCase();
    if (scheme === undefined) throw unauthorized();
    const token = /^\w+ +([\w.~+/-]+=*)$/.exec(authorization)?.[1];
    if (token === undefined) throw unauthorized('invalid_token', 'not a token');
    const at = origin + req.originalUrl.split('?')[0];
    const proof =
      scheme === 'dpop' ? await orUnproven(proofs.view(req, res, { address: at, accessToken: token })) : undefined;
    if (scheme === 'dpop' && !proof) throw unproven('invalid_dpop_proof', 'no proof');
    setPrincipal(req, await byToken(token, access, proof));
    next();
  };
}
