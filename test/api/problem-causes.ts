import type { ApiOperation } from '../../server/http/index.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { bearer, type Credentials, everyScope, lateMs, ownPage, service, signedInto } from './callers.ts';

/** A fault that every call can meet: of its caller, or of the request. */
export interface GeneralCause {
  name: string;
  credentials(foyer: TestFoyer): Promise<Credentials>;
  /** The type of the problem, from the access rule as docs/json-api.md states it; undefined: the call has no such cause. */
  expected(operation: ApiOperation): string | undefined;
}

const guarded = ({ access }: ApiOperation) => (access === 'public' ? undefined : access);
const changes = (operation: ApiOperation) => operation.method !== 'get' && !guarded(operation)?.reads;

/** A member with every scope whose row is changed. */
const changedMember = (change: object) => async (foyer: TestFoyer) => {
  const { user, tokens } = await signedInto(foyer, everyScope);
  const { db } = foyer.deps.database;
  await db.updateTable('users').set(change).where('id', '=', toUserId(user.id)).execute();
  return bearer(tokens.access_token);
};

export const generalCauses: GeneralCause[] = [
  {
    name: 'without credentials',
    credentials: async () => ({}),
    expected: (one) => guarded(one) && 'unauthorized',
  },
  {
    name: 'with an unknown token',
    credentials: async () => bearer('unknown'),
    expected: (one) => guarded(one) && 'tokenRevoked',
  },
  {
    name: 'with a DPoP token and no proof',
    credentials: async () => ({ headers: { authorization: 'DPoP unknown' } }),
    expected: (one) => guarded(one) && 'invalidProof',
  },
  {
    name: 'by a session on a page of another site',
    credentials: async (foyer) => ({
      browser: await foyer.signedIn(await foyer.addUser()),
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    }),
    expected: (one) => guarded(one) && 'crossSite',
  },
  {
    name: 'by a session on an own page',
    credentials: async (foyer) => ({
      browser: await foyer.signedIn(await foyer.addUser()),
      headers: ownPage(foyer),
    }),
    expected: (one) => (guarded(one) && !guarded(one)?.member ? 'wrongCaller' : undefined),
  },
  {
    name: 'by a member whose token has no scope of the API',
    credentials: async (foyer) => bearer((await signedInto(foyer, 'openid')).tokens.access_token),
    expected: (one) => guarded(one) && (guarded(one)?.member ? 'insufficientScope' : 'wrongCaller'),
  },
  {
    name: 'by a service with another scope',
    credentials: async (foyer) => bearer((await service(foyer, ['visitors:act-for'])).token),
    expected: (one) => guarded(one) && (guarded(one)?.client ? 'insufficientScope' : 'wrongCaller'),
  },
  {
    name: 'by a member who must accept new terms',
    credentials: changedMember({ acceptedTosVersion: null }),
    expected: (one) => (guarded(one)?.member && changes(one) ? 'termsNotAccepted' : undefined),
  },
  {
    name: 'by a member who must set up a second factor',
    credentials: changedMember({ secondFactorRequired: 1 }),
    expected: (one) => (guarded(one)?.member && !guarded(one)?.settingUp ? 'secondFactorRequired' : undefined),
  },
  {
    name: 'by a member who signed in long ago',
    async credentials(foyer) {
      const { tokens } = await signedInto(foyer, everyScope);
      foyer.passTime(lateMs);
      return bearer(tokens.access_token);
    },
    expected: (one) => (guarded(one)?.recent === true ? 'insufficientAuthentication' : undefined),
  },
];

/** A body that no call accepts, and the type that names the cause. */
export const wrongBodies = [
  { name: 'a body that is not JSON', body: '{', contentType: 'application/json', type: 'badRequest' },
  { name: 'a body of another type', body: 'x', contentType: 'text/plain', type: 'unsupportedType' },
  { name: 'a large body', body: `["${'x'.repeat(20_000)}"]`, contentType: 'application/json', type: 'tooLarge' },
] as const;
