import { memberApiScopes } from '../../server/http/index.ts';
import { deleteClient, findClient, updateClient } from '../../server/oidc/index.ts';
import { sha256 } from '../../server/shared/index.ts';
import { setDisabled } from '../../server/users/index.ts';
import { giveTotp } from '../sign-in/factor-steps.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { bearer, type Credentials, everyScope, lateMs, ownPage, type Signed, signedInto, tamper } from './callers.ts';
import { always, asTokenReader, type Caller, late, withMemberScope, withoutFactor } from './expected-status.ts';

const spoilt = (spoil: (foyer: TestFoyer, signed: Signed) => Promise<unknown>): Caller => ({
  async credentials(foyer) {
    const signed = await signedInto(foyer);
    await spoil(foyer, signed);
    return bearer(signed.tokens.access_token);
  },
  expected: always(401),
});

const withToken = (credentialsOf: (signed: Signed) => Credentials, expected: Caller['expected']): Caller => ({
  credentials: async (foyer) => credentialsOf(await signedInto(foyer)),
  expected,
});

/** Callers with a token of a member, valid or not. */
export const tokenCallers: Record<string, Caller> = {
  'a member’s token with account': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer);
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: withMemberScope('account'),
  },
  'a member’s token with account by its other name': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer, 'openid aws.cognito.signin.user.admin');
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: withMemberScope('account'),
  },
  'a member’s token from a page of another site': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer);
      const headers = { ...bearer(tokens.access_token).headers, 'sec-fetch-site': 'cross-site' };
      return { headers: { ...headers, origin: 'https://app.example' }, is: user.id };
    },
    expected: withMemberScope('account'),
  },
  'a member’s token with account:security alone': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer, 'openid account:security');
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: withMemberScope('account:security'),
  },
  'a member’s token with account:payments alone': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer, 'openid account:payments');
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: withMemberScope('account:payments'),
  },
  'a member’s token with every scope': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer, everyScope);
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: withMemberScope(...memberApiScopes),
  },
  'a member’s token with every scope, from an old sign-in': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer, everyScope);
      foyer.passTime(lateMs);
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: late(withMemberScope(...memberApiScopes)),
  },
  'a member’s token with every scope, from before the second factor': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer, everyScope);
      await giveTotp(foyer, user);
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: withoutFactor(withMemberScope(...memberApiScopes)),
  },
  'a third-party app’s token with account': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer, 'openid account', { thirdParty: true });
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: withMemberScope('account'),
  },
  // Stored before registrations were checked, or written into the table by hand.
  'a third-party app’s token with every scope': {
    async credentials(foyer) {
      const { user, tokens, clientId } = await signedInto(foyer, everyScope);
      const { db } = foyer.deps.database;
      const client = await findClient(db, toClientId(clientId));
      if (!client) throw new Error('no such client');
      await updateClient(db, { ...client, first_party: false }, { nowMs: foyer.deps.now() });
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: withMemberScope('account'),
  },
  'a member’s token without account': {
    credentials: async (foyer) => bearer((await signedInto(foyer, 'openid profile email phone')).tokens.access_token),
    expected: always(403),
  },
  'an expired token': spoilt((foyer, { tokens }) =>
    tamper(foyer, tokens.access_token, { exp: Math.floor(Date.now() / 1000) - 5 }),
  ),
  'a token for a resource server': spoilt((foyer, { tokens }) =>
    tamper(foyer, tokens.access_token, { aud: 'https://api.example' }),
  ),
  'a revoked token': spoilt(async (foyer, { tokens, clientId }) => {
    const key = `oidc:AccessToken:${sha256(tokens.access_token)}`;
    if ((await foyer.deps.kv.takeOnce(key)) === null) throw new Error(`no token of ${clientId}`);
  }),
  'a token whose grant is gone': spoilt((foyer, { user }) => foyer.app.oauth.grants.revokeOfAccount(user.id)),
  'a token whose grant is gone and whose record is left': spoilt((foyer, { user }) =>
    foyer.deps.database.db.deleteFrom('oidc').where('accountId', '=', user.id).execute(),
  ),
  'a token of a member who signed out': spoilt((_foyer, { browser }) => browser.post('/logout')),
  'a token of a disabled member': spoilt((foyer, { user }) =>
    setDisabled(foyer.deps.database.db, user.id, { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() }),
  ),
  'a token whose grant is another client’s': spoilt(async (foyer, { tokens }) => {
    const other = await signedInto(foyer);
    await tamper(foyer, tokens.access_token, { clientId: other.clientId });
  }),
  'a token whose grant is another member’s': spoilt(async (foyer, { tokens }) => {
    const { user } = await signedInto(foyer);
    await tamper(foyer, tokens.access_token, { accountId: user.id });
  }),
  'a member’s token that names nobody': spoilt((foyer, { tokens }) =>
    tamper(foyer, tokens.access_token, { accountId: undefined }),
  ),
  'a member’s token without a grant': spoilt((foyer, { tokens }) =>
    tamper(foyer, tokens.access_token, { grantId: undefined }),
  ),
  'a token of a member who must accept new terms': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer);
      const { db } = foyer.deps.database;
      await db.updateTable('users').set({ acceptedTosVersion: null }).where('id', '=', user.id).execute();
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: asTokenReader,
  },
  'a token of a removed client': spoilt((foyer, { clientId }) =>
    deleteClient(foyer.deps.database.db, toClientId(clientId)),
  ),
  'a refresh token': withToken(({ tokens }) => bearer(tokens.refresh_token ?? ''), always(401)),
  'an id token': withToken(({ tokens }) => bearer(tokens.id_token ?? ''), always(401)),
  'a token in the address': withToken(({ tokens }) => ({ query: { access_token: tokens.access_token } }), always(400)),
  'a token in the address and a session': {
    async credentials(foyer) {
      const { browser, tokens } = await signedInto(foyer);
      return { browser, headers: ownPage(foyer), query: { access_token: tokens.access_token } };
    },
    expected: always(400),
  },
  'one member’s token beside another’s session': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer);
      const browser = await foyer.signedIn(await foyer.addUser());
      return { browser, headers: { ...ownPage(foyer), ...bearer(tokens.access_token).headers }, is: user.id };
    },
    expected: withMemberScope('account'),
  },
};
