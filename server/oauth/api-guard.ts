import type { Request, Response } from 'express';
import type Provider from 'oidc-provider';
import { currentUser } from '../account/index.ts';
import { type Access, fromThisSite, type Guard, HttpError, type Principal, setPrincipal } from '../http/index.ts';
import type { Sessions } from '../session/index.ts';
import type { Database } from '../store/index.ts';

interface ApiGuardDeps {
  publicUrl: string;
  database: Database;
  provider: () => Provider;
  sessions: Sessions;
}

/** The scope that opens a member's own data, and its name in clients that come from Cognito. */
export const accountScopes = ['account', 'aws.cognito.signin.user.admin'] as const;

/** RFC 6750, section 3: what the caller lacks is said in WWW-Authenticate. */
function unauthorized(error?: 'invalid_token', description?: string): HttpError {
  const challenge = error === undefined ? 'Bearer' : `Bearer error="${error}", error_description="${description}"`;
  return new HttpError('unauthorized', {
    detail: description ?? 'no credentials',
    headers: { 'WWW-Authenticate': challenge },
  });
}

function insufficientScope(scope: string): HttpError {
  return new HttpError('forbidden', {
    detail: `the token lacks the scope ${scope}`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}

const safeMethods = new Set(['GET', 'HEAD']);

/**
 * The one guard of all JSON routes. A bearer token is looked up at every call (it is opaque, so revoking it, its grant or
 * its member acts at once); with one, cookies are ignored (`security.md`, rule 9). A session counts only for requests of
 * this site's own pages.
 */
export function createApiGuard({ publicUrl, database, provider, sessions }: ApiGuardDeps): Guard {
  async function byToken(value: string, access: Access): Promise<Principal> {
    const { AccessToken, ClientCredentials, Client, Grant } = provider();
    const token = (await AccessToken.find(value)) ?? (await ClientCredentials.find(value));
    // A token for a resource server is not one for us.
    if (!token?.isValid || token.aud !== undefined) throw unauthorized('invalid_token', 'unknown, expired or revoked');
    const clientId = token.clientId ?? '';
    if (!(await Client.find(clientId))) throw unauthorized('invalid_token', 'its client is gone');
    if (token instanceof ClientCredentials) {
      if (access.client === undefined) throw new HttpError('forbidden', { detail: 'not open to client apps' });
      if (!token.scopes.has(access.client)) throw insufficientScope(access.client);
      return { kind: 'client', clientId };
    }
    const grant = await Grant.find(token.grantId ?? '');
    const user = await currentUser(database, token.accountId);
    if (!grant || !user || user.disabledAt !== null)
      throw unauthorized('invalid_token', 'Access Token has been revoked');
    if (access.member === undefined) throw new HttpError('forbidden', { detail: 'not open to members' });
    if (!accountScopes.some((scope) => token.scopes.has(scope))) throw insufficientScope('account');
    return { kind: 'member', userId: user.id, by: 'token' };
  }

  async function bySession(req: Request, access: Access): Promise<Principal> {
    const member = await sessions.member(req);
    if (!member) throw unauthorized();
    const headers = { site: req.get('sec-fetch-site'), origin: req.get('origin') };
    if (!safeMethods.has(req.method) && !fromThisSite(headers, new URL(publicUrl).origin)) {
      throw new HttpError('crossSite', { detail: 'a session counts only on this site' });
    }
    if (access.member === undefined) throw new HttpError('forbidden', { detail: 'not open to members' });
    return { kind: 'member', userId: member.user.id, by: 'session' };
  }

  return (access) => async (req: Request, _res: Response, next) => {
    const authorization = req.get('authorization');
    const bearer = authorization === undefined ? undefined : /^Bearer ([A-Za-z0-9._~+/=-]+)$/i.exec(authorization)?.[1];
    if (authorization !== undefined && bearer === undefined) throw unauthorized('invalid_token', 'not a bearer token');
    setPrincipal(req, bearer === undefined ? await bySession(req, access) : await byToken(bearer, access));
    next();
  };
}
