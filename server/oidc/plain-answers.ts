import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AdapterPayload } from 'oidc-provider';
import { z } from 'zod';
import { toClientId, toUserId } from '../shared/index.ts';
import { type Database, readTogether } from '../store/index.ts';
import {
  type Claims,
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
import { createClientMetadataReader } from './client-store.ts';
import type { GrantStore } from './grant-store.ts';

/** A code or token of a user. */
interface Issued {
  clientId: string;
  accountId: string;
  grantId: string;
  scope: string;
}

/** The client app, user and grant of a code or token, as they are now. */
interface Holder {
  client: AdapterPayload | undefined;
  user: User | undefined;
  grant: AdapterPayload | undefined;
}

export function createHolderReader(
  database: Database,
  grants: GrantStore,
): (issued: Omit<Issued, 'scope'>) => Promise<Holder> {
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

export const grantSchema = z.object({
  jti: z.string(),
  exp: z.number(),
  clientId: z.string(),
  accountId: z.string(),
  openid: z.object({ scope: z.string() }),
  rejected: z.undefined().optional(),
});

/**
 * The scopes that a code or token and its living grant have in common, in the order of the grant.
 * @returns undefined if the grant is none, has ended or is another one's, or if `openid` is not among the scopes
 */
export function findScopes(issued: Issued, stored: AdapterPayload | undefined): string[] | undefined {
  const { data: grant } = grantSchema.safeParse(stored);
  if (!grant || grant.exp <= Math.floor(Date.now() / 1000)) return undefined;
  if (grant.clientId !== issued.clientId || grant.accountId !== issued.accountId) return undefined;
  const ofIssued = new Set(issued.scope.split(' '));
  return ofIssued.has('openid') ? grant.openid.scope.split(' ').filter((scope) => ofIssued.has(scope)) : undefined;
}

export interface ClaimsDeps {
  membershipClaims: GetMembershipClaims;
  withPicture: WithPicture | undefined;
  withheldFields: ReadonlySet<ProfileField>;
}

/** The claims of scopes, as the library answers them. */
export function createClaimsReader({ membershipClaims, withPicture, withheldFields }: ClaimsDeps) {
  const ofProfile = new Set<string>(listProfileClaims(withheldFields));
  const withheld = (claimsByScope.profile ?? []).filter((name) => !ofProfile.has(name));
  return async (user: User, scopes: readonly string[]): Promise<Claims> => {
    const subject = withPicture && scopes.includes('profile') ? await withPicture(user) : user;
    const claims = claimsFor(subject, new Set(scopes), membershipClaims(user));
    for (const name of withheld) delete claims[name];
    return claims;
  };
}

/** Those of the library for a call without an origin. */
const headers = new Map([
  ['Vary', 'Origin'],
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', 'DPoP-Nonce,WWW-Authenticate'],
  ['Cache-Control', 'no-store'],
  ['Content-Type', 'application/json; charset=utf-8'],
]);

export function sendPlain(res: ServerResponse, answer: object): void {
  const body = Buffer.from(JSON.stringify(answer));
  res.statusCode = 200;
  res.setHeaders(headers);
  res.setHeader('Content-Length', body.length);
  res.end(body);
}

const redeemers = new WeakSet<IncomingMessage>();

/** Notes that this request itself has used its code, so that the library, which refuses the rest, reports no theft. */
export function noteRedemption(req: IncomingMessage): void {
  redeemers.add(req);
}

export const hasRedeemed = (req: IncomingMessage): boolean => redeemers.has(req);
