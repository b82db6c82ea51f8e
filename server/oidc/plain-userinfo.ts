import type { IncomingMessage } from 'node:http';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { z } from 'zod';
import type { DirectHandler, Logger } from '../http/index.ts';
import { type Database, StoreUnavailable } from '../store/index.ts';
import { isRestricted } from './access-rule.ts';
import type { GrantStore } from './grant-store.ts';
import { type ClaimsDeps, createClaimsReader, createHolderReader, findScopes, sendPlain } from './plain-answers.ts';
import { sendStoreAway } from './server-errors.ts';

interface PlainUserinfoDeps extends ClaimsDeps {
  database: Database;
  grants: GrantStore;
  tokens: Pick<Adapter, 'find'>;
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

/** The token of a call with nothing but a token; scripts of browsers send their origin. */
function readToken({ url = '', headers }: IncomingMessage): string | undefined {
  const { authorization = '', origin, dpop } = headers;
  // A query may name fewer scopes, or another token.
  if (url.includes('?') || origin !== undefined || dpop !== undefined) return undefined;
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return undefined;
  return /^Bearer ([A-Za-z0-9_-]{20,100})$/.exec(authorization)?.[1];
}

/** Tests whether the client app gets JSON, whatever the plan of the user. */
const isPlainClient = (client: AdapterPayload): boolean =>
  !isRestricted(client) && !Object.keys(client).some((name) => name.startsWith('userinfo_'));

/**
 * Userinfo for the plain call that servers of client apps make at every sign-in: a bearer token of a member, and the
 * claims of its scopes as JSON. The library spends most of such a call on layers that this one does not need. It checks
 * what the library checks (OpenID Connect Core 1.0, section 5.3), and answers nothing but the claims: each other call,
 * and each refusal, is the library's.
 */
export function plainUserinfo(deps: PlainUserinfoDeps, library: DirectHandler): DirectHandler {
  const { database, grants, tokens, log } = deps;
  const readHolder = createHolderReader(database, grants);
  const readClaims = createClaimsReader(deps);

  async function findClaims(req: IncomingMessage): Promise<object | undefined> {
    const value = readToken(req);
    const { data: token } = tokenSchema.safeParse(value && (await tokens.find(value)));
    const nowSeconds = Math.floor(Date.now() / 1000);
    if (!token || token.exp <= nowSeconds || token.iat > nowSeconds) return undefined;
    const { client, user, grant } = await readHolder(token);
    if (!client || !isPlainClient(client) || !user || user.disabledAt !== null) return undefined;
    const scopes = findScopes(token, grant);
    return scopes && readClaims(user, scopes);
  }

  return async (req, res) => {
    try {
      const claims = await findClaims(req);
      if (claims) return sendPlain(res, claims);
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
