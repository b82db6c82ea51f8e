import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { z } from 'zod';
import type { DirectHandler, Logger } from '../http/index.ts';
import { toClientId, toUserId } from '../shared/index.ts';
import { type Database, readTogether, StoreUnavailable } from '../store/index.ts';
import {
  claimsByScope,
  claimsFor,
  currentUserQuery,
  findCurrentUser,
  type GetMembershipClaims,
  listProfileClaims,
  type ProfileField,
  toCurrentUser,
  type User,
  type WithPicture,
} from '../users/index.ts';
import { isRestricted } from './access-rule.ts';
import { createClientMetadataReader } from './client-store.ts';
import type { GrantStore } from './grant-store.ts';
import { sendStoreAway } from './server-errors.ts';

interface PlainUserinfoDeps {
  database: Database;
  grants: GrantStore;
  tokens: Pick<Adapter, 'find'>;
  membershipClaims: GetMembershipClaims;
  withPicture: WithPicture | undefined;
  withheldFields: ReadonlySet<ProfileField>;
  log: Pick<Logger, 'error'>;
}

const none = z.undefined().optional();

/** An access token without conditions. Any other property that the library judges makes the call its own. */
const tokenSchema = z.object({
  kind: z.literal('AccessToken'),
  iat: z.number(),
  exp: z.number(),
  clientId: z.string(),
  accountId: z.string(),
  grantId: z.string(),
  scope: z.string(),
  aud: none,
  jkt: none,
  'x5t#S256': none,
  claims: z.object({}).strict().optional(),
  expiresWithSession: z.literal(false).optional(),
  rar: none,
});
type PlainToken = z.infer<typeof tokenSchema>;

const grantSchema = z.object({
  exp: z.number(),
  clientId: z.string(),
  accountId: z.string(),
  openid: z.object({ scope: z.string() }),
  rejected: none,
});

const words = (text: string) => text.split(' ');

/** The token of a call with nothing but a token; scripts of browsers send their origin. */
function readToken({ url = '', headers }: IncomingMessage): string | undefined {
  const { authorization = '', origin, dpop } = headers;
  // A query may name fewer scopes, or another token.
  if (url.includes('?') || origin !== undefined || dpop !== undefined) return undefined;
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return undefined;
  return /^Bearer ([A-Za-z0-9_-]{20,100})$/.exec(authorization)?.[1];
}

interface Holder {
  client: AdapterPayload | undefined;
  user: User | undefined;
  grant: AdapterPayload | undefined;
}

/** The client app, user and grant of a token, as they are now. */
function createHolderReader({ database, grants }: PlainUserinfoDeps): (token: PlainToken) => Promise<Holder> {
  const clients = createClientMetadataReader(database);
  return async ({ clientId, accountId, grantId }) => {
    const userId = toUserId(accountId);
    if (database.kind === 'sqlite') {
      const [client, user] = [await clients.find(clientId), await findCurrentUser(database, userId)];
      return { client, user, grant: await grants.find(grantId) };
    }
    const rows = await readTogether(database, {
      client: clients.bind(toClientId(clientId)),
      user: currentUserQuery(database, userId),
      grant: grants.bind(grantId),
    });
    return {
      client: rows.client && clients.read(rows.client),
      user: rows.user && toCurrentUser(rows.user),
      grant: rows.grant && grants.open(rows.grant),
    };
  };
}

/** Tests whether the client app gets JSON, whatever the plan of the user. */
const isPlainClient = (client: AdapterPayload): boolean =>
  !isRestricted(client) && !Object.keys(client).some((name) => name.startsWith('userinfo_'));

/** The scopes that the token and its living grant have in common. Undefined: it is not for the plain answer. */
function findScopes(token: PlainToken, stored: AdapterPayload | undefined, nowSeconds: number): string[] | undefined {
  const { data: grant } = grantSchema.safeParse(stored);
  if (!grant || grant.exp <= nowSeconds) return undefined;
  if (grant.clientId !== token.clientId || grant.accountId !== token.accountId) return undefined;
  const ofToken = new Set(words(token.scope));
  return ofToken.has('openid') ? words(grant.openid.scope).filter((scope) => ofToken.has(scope)) : undefined;
}

/** Those of the library for a call without an origin. */
const headers = new Map([
  ['Vary', 'Origin'],
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', 'DPoP-Nonce,WWW-Authenticate'],
  ['Cache-Control', 'no-store'],
  ['Content-Type', 'application/json; charset=utf-8'],
]);

function send(res: ServerResponse, claims: object): void {
  const body = Buffer.from(JSON.stringify(claims));
  res.statusCode = 200;
  res.setHeaders(headers);
  res.setHeader('Content-Length', body.length);
  res.end(body);
}

/**
 * Userinfo for the plain call that servers of client apps make at every sign-in: a bearer token of a member, and the
 * claims of its scopes as JSON. The library spends most of such a call on layers that this one does not need. It checks
 * what the library checks (OpenID Connect Core 1.0, section 5.3), and answers nothing but the claims: each other call,
 * and each refusal, is the library's.
 */
export function plainUserinfo(deps: PlainUserinfoDeps, library: DirectHandler): DirectHandler {
  const { tokens, membershipClaims, withPicture, withheldFields, log } = deps;
  const readHolder = createHolderReader(deps);
  const ofProfile = new Set<string>(listProfileClaims(withheldFields));
  const withheld = (claimsByScope.profile ?? []).filter((name) => !ofProfile.has(name));

  async function findClaims(req: IncomingMessage): Promise<object | undefined> {
    const value = readToken(req);
    const { data: token } = tokenSchema.safeParse(value && (await tokens.find(value)));
    const nowSeconds = Math.floor(Date.now() / 1000);
    if (!token || token.exp <= nowSeconds || token.iat > nowSeconds) return undefined;
    const { client, user, grant } = await readHolder(token);
    if (!client || !isPlainClient(client) || !user || user.disabledAt !== null) return undefined;
    const scopes = findScopes(token, grant, nowSeconds);
    if (!scopes) return undefined;
    const subject = withPicture && scopes.includes('profile') ? await withPicture(user) : user;
    const claims = claimsFor(subject, new Set(scopes), membershipClaims(user));
    for (const name of withheld) delete claims[name];
    return claims;
  }

  return async (req, res) => {
    try {
      const claims = await findClaims(req);
      if (claims) return send(res, claims);
    } catch (error) {
      // The library would wait for the store again; of other faults it makes its own answer.
      if (error instanceof StoreUnavailable) {
        log.error({ err: error }, 'OpenID Provider failed');
        return sendStoreAway(res);
      }
    }
    return library(req, res);
  };
}
