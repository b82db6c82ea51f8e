import * as oidc from 'openid-client';
import {
  type ApiAccess,
  type ApiOperation,
  type ApiScope,
  apiScopes,
  type MemberApiScope,
  memberApiScopes,
} from '../../server/http/index.ts';
import {
  type ClientRequest,
  createGrantHooks,
  deleteClient,
  findClient,
  insertResourceServer,
  updateClient,
} from '../../server/oidc/index.ts';
import { endAllSessions } from '../../server/sessions/index.ts';
import { sha256 } from '../../server/shared/index.ts';
import { setDisabled, type User } from '../../server/users/index.ts';
import { giveTotp } from '../sign-in/factor-steps.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { toClientId, toSealedText } from '../support/ids.ts';
import { relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';

/** What a caller sends beside the call itself. */
export interface Credentials {
  headers?: Record<string, string>;
  /** Whose cookies travel along. */
  browser?: Browser;
  query?: Record<string, string>;
}

export interface Caller {
  credentials(foyer: TestFoyer): Promise<Credentials & { is?: string }>;
  /** The status that a guarded call answers to this caller, from its access and method alone. */
  expected(access: ApiAccess, method: ApiOperation['method']): number;
}

const always = (status: number) => () => status;
const asMember = ({ member }: ApiAccess) => (member ? 200 : 403);
/** A token of a member opens what its scope names, and nothing else. */
const withMemberScope =
  (...scopes: MemberApiScope[]): Caller['expected'] =>
  ({ member }) =>
    member !== undefined && scopes.includes(member) ? 200 : 403;
/** The same, from an authentication that is not recent. */
const late =
  (expected: Caller['expected']): Caller['expected'] =>
  (access, method) =>
    expected(access, method) === 200 && access.recent === true ? 401 : expected(access, method);
/** The same, from an authentication without the second factor that the member has. */
const withoutFactor =
  (expected: Caller['expected']): Caller['expected'] =>
  (access, method) =>
    expected(access, method) === 200 && access.recent !== undefined ? 401 : expected(access, method);
/** Reading goes on, acts wait. */
const asReader = ({ member, reads }: ApiAccess, method: ApiOperation['method']) =>
  member && (reads || method === 'get') ? 200 : 403;
/** By a token with `account`. */
const asTokenReader: Caller['expected'] = (access, method) =>
  access.member === 'account' ? asReader(access, method) : 403;
const asClient = ({ client }: ApiAccess) => (client === undefined ? 403 : 200);
const withScope =
  (scope: ApiScope) =>
  ({ client }: ApiAccess) =>
    client === scope ? 200 : 403;

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const ownPage = (foyer: TestFoyer) => ({ 'sec-fetch-site': 'same-origin', origin: foyer.url });

export interface Signed {
  user: User;
  browser: Browser;
  clientId: string;
  tokens: Tokens;
}

/** Every scope with which a client app calls the JSON API for a member. */
const everyScope = ['openid', ...memberApiScopes].join(' ');
/** Longer than an authentication counts as recent. */
const lateMs = 11 * 60_000;

/** A member who has signed in to a client app that may ask for `scope`. */
export async function signedInto(
  foyer: TestFoyer,
  scope = 'openid account',
  registration: Partial<ClientRequest> = {},
): Promise<Signed> {
  const scopes = scope.split(' ');
  const [user, client] = [await foyer.addUser(), await foyer.addClient({ ...registration, scopes })];
  const browser = foyer.browser();
  const tokens = await tokensFor(await relyingParty(foyer, client, scope), browser, user);
  return { user, browser, clientId: client.id, tokens };
}

/** A client app that acts for itself, with a token of these scopes. */
export async function service(foyer: TestFoyer, scopes: readonly string[]) {
  const client = await foyer.addClient({ service: true, redirectUris: [], scopes: [...apiScopes] });
  const { config } = await relyingParty(foyer, client);
  const { access_token: token } = await oidc.clientCredentialsGrant(config, { scope: scopes.join(' ') });
  return { ...client, config, token };
}

/** The stored record of an opaque access token, changed under its own key. */
async function tamper({ deps }: TestFoyer, token: string, change: object, kind = 'AccessToken'): Promise<void> {
  const key = `oidc:${kind}:${sha256(token)}`;
  const sealed = await deps.kv.get(key);
  if (sealed === null) throw new Error('no such token');
  const payload: object = JSON.parse(deps.boxes.oidc.open(toSealedText(sealed), key));
  await deps.kv.update(key, deps.boxes.oidc.seal(JSON.stringify({ ...payload, ...change }), key));
}

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

/** A member's session, sent from a page that says these headers of itself. */
const session = (headersOf: (foyer: TestFoyer) => Record<string, string>, expected: Caller['expected']): Caller => ({
  async credentials(foyer) {
    const user = await foyer.addUser();
    return { browser: await foyer.signedIn(user), headers: headersOf(foyer), is: user.id };
  },
  expected,
});

const garbage = (authorization: string): Caller => ({
  credentials: async () => ({ headers: { authorization } }),
  expected: always(401),
});

/** Everybody who may knock. */
export const callers: Record<string, Caller> = {
  nobody: { credentials: async () => ({}), expected: always(401) },
  'nobody, from an own page': {
    credentials: async (foyer) => ({ headers: ownPage(foyer) }),
    expected: always(401),
  },
  'a member’s session on an own page': session(ownPage, asMember),
  'a member’s session from a page of another site': session(
    () => ({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }),
    always(403),
  ),
  'a member’s session from a sibling’s page': session(
    () => ({ 'sec-fetch-site': 'same-site', origin: 'https://sibling.localhost' }),
    always(403),
  ),
  'a member’s session from a sandboxed frame': session(
    () => ({ 'sec-fetch-site': 'cross-site', origin: 'null' }),
    always(403),
  ),
  'a member’s session from another site in an old browser': session(
    () => ({ origin: 'https://evil.example' }),
    always(403),
  ),
  'a member’s session whose page’s origin does not fit': session(
    () => ({ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }),
    always(403),
  ),
  'the session of a disabled member': {
    async credentials(foyer) {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await setDisabled(foyer.deps.database.db, user.id, foyer.deps.now(), foyer.deps.now());
      return { browser, headers: ownPage(foyer) };
    },
    expected: always(401),
  },
  'a session that ended elsewhere': {
    async credentials(foyer) {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await endAllSessions(foyer.deps.kv, createGrantHooks(foyer.app.oauth.grants), user.id);
      return { browser, headers: ownPage(foyer) };
    },
    expected: always(401),
  },
  'a forged session cookie': {
    async credentials(foyer) {
      const browser = foyer.browser();
      await browser.jar.setCookie('foyer_session=s%3Aforged.forged; Path=/', foyer.url);
      return { browser, headers: ownPage(foyer) };
    },
    expected: always(401),
  },
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
      await updateClient(db, { ...client, first_party: false }, {}, foyer.deps.now());
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: withMemberScope('account'),
  },
  'an old session of a member': {
    async credentials(foyer) {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      foyer.passTime(lateMs);
      return { browser, headers: ownPage(foyer), is: user.id };
    },
    expected: late(asMember),
  },
  'a session from before the second factor': {
    async credentials(foyer) {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await giveTotp(foyer, user);
      return { browser, headers: ownPage(foyer), is: user.id };
    },
    expected: withoutFactor(asMember),
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
  'a JWT for a resource server': {
    async credentials(foyer) {
      const identifier = 'https://api.example.com/';
      await insertResourceServer(foyer.deps.database.db, { identifier, scopes: ['orders:read'] }, 1);
      const client = await foyer.addClient({
        service: true,
        scopes: ['openid', ...apiScopes],
        resources: [identifier],
      });
      const { config } = await relyingParty(foyer, client);
      const scope = `orders:read ${apiScopes.join(' ')}`;
      return bearer((await oidc.clientCredentialsGrant(config, { scope, resource: identifier })).access_token);
    },
    expected: always(401),
  },
  'a revoked token': spoilt(async (foyer, { tokens, clientId }) => {
    const key = `oidc:AccessToken:${sha256(tokens.access_token)}`;
    if ((await foyer.deps.kv.takeOnce(key)) === null) throw new Error(`no token of ${clientId}`);
  }),
  'a token whose grant is gone': spoilt((foyer, { user }) => foyer.app.oauth.grants.revokeOfAccount(user.id)),
  'a token whose grant is gone and whose record is left': spoilt((foyer, { user }) =>
    foyer.deps.database.db.deleteFrom('oidc').where('account_id', '=', user.id).execute(),
  ),
  'a token of a member who signed out': spoilt((_foyer, { browser }) => browser.post('/logout')),
  'a token of a disabled member': spoilt((foyer, { user }) =>
    setDisabled(foyer.deps.database.db, user.id, foyer.deps.now(), foyer.deps.now()),
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
  'the session of a member who must accept new terms': {
    async credentials(foyer) {
      const user = await foyer.addUser({ acceptedTosVersion: null });
      return { browser: await foyer.signedIn(user), headers: ownPage(foyer), is: user.id };
    },
    expected: asReader,
  },
  'a token of a member who must accept new terms': {
    async credentials(foyer) {
      const { user, tokens } = await signedInto(foyer);
      const { db } = foyer.deps.database;
      await db.updateTable('users').set({ accepted_tos_version: null }).where('id', '=', user.id).execute();
      return { ...bearer(tokens.access_token), is: user.id };
    },
    expected: asTokenReader,
  },
  'a token of a removed client': spoilt((foyer, { clientId }) =>
    deleteClient(foyer.deps.database.db, toClientId(clientId)),
  ),
  'a client app with every scope': {
    async credentials(foyer) {
      const { id, token } = await service(foyer, apiScopes);
      return { ...bearer(token), is: id };
    },
    expected: asClient,
  },
  // Of an older Foyer: today a token needs a scope.
  'a client app whose token has no scope': {
    async credentials(foyer) {
      const { token } = await service(foyer, ['users:read']);
      await tamper(foyer, token, { scope: undefined }, 'ClientCredentials');
      return bearer(token);
    },
    expected: always(403),
  },
  'a client app with another scope': {
    credentials: async (foyer) => bearer((await service(foyer, ['payments:write'])).token),
    expected: withScope('payments:write'),
  },
  'a client app that was registered for less since': {
    async credentials(foyer) {
      const { id, token } = await service(foyer, apiScopes);
      const { db } = foyer.deps.database;
      const client = await findClient(db, toClientId(id));
      if (!client) throw new Error('no such client');
      await updateClient(db, { ...client, scope: 'payments:write' }, {}, foyer.deps.now());
      return bearer(token);
    },
    expected: withScope('payments:write'),
  },
  'a client app that is removed': {
    async credentials(foyer) {
      const { id, token } = await service(foyer, apiScopes);
      await deleteClient(foyer.deps.database.db, toClientId(id));
      return bearer(token);
    },
    expected: always(401),
  },
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
  'a garbage token beside a session': {
    async credentials(foyer) {
      const browser = await foyer.signedIn(await foyer.addUser());
      return { browser, headers: { ...ownPage(foyer), authorization: 'Bearer garbage' } };
    },
    expected: always(401),
  },
  'another scheme beside a session': {
    async credentials(foyer) {
      const browser = await foyer.signedIn(await foyer.addUser());
      return { browser, headers: { ...ownPage(foyer), authorization: 'Basic Zm9vOmJhcg==' } };
    },
    expected: always(401),
  },
  'a word': garbage('Bearer foyer'),
  'no token': garbage('Bearer'),
  'two tokens': garbage('Bearer one two'),
  'a very long token': garbage(`Bearer ${'x'.repeat(6_000)}`),
  'a token with quotes': garbage('Bearer "token"'),
  'a client’s id and secret': garbage(`Basic ${Buffer.from('client1:secret').toString('base64')}`),
};
