import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MultiSamlStrategy, SAML } from '@node-saml/passport-saml';
import { Strategy as PassportOidc } from 'openid-client/passport';
import { Strategy as Amazon } from 'passport-amazon';
import { Strategy as Facebook } from 'passport-facebook';
import { Strategy as Google } from 'passport-google-oauth20';

/** Foyer uses these undocumented members of libraries (docs/decisions/0013), so an upgrade must keep each. */
interface OAuthClient {
  _useAuthorizationHeaderForGET: boolean;
  _request(...given: unknown[]): void;
  get(url: string, token: string, done: (error: unknown, text?: string) => void): void;
  getOAuthAccessToken(
    code: string,
    parameters: object,
    done: (error: unknown, token?: string, refresh?: string, more?: object) => void,
  ): void;
}
interface Family {
  _oauth2: OAuthClient;
  _stateStore: object;
  _pkceMethod: string;
  userProfile(token: string, done: (error: unknown, profile?: { _json: object }) => void): void;
  authenticate(req: object, options: object): void;
}

const root = join(import.meta.dirname, '..', '..');

describe('members of libraries that Foyer relies on', () => {
  const stored: unknown[][] = [];
  const store = {
    store(...given: unknown[]) {
      stored.push(given);
    },
    verify(...given: unknown[]) {
      stored.push(given);
    },
  };
  // The library counts parameters: with the verifier, `store` has five and `verify` has four.
  Object.defineProperty(store.store, 'length', { value: 5 });
  Object.defineProperty(store.verify, 'length', { value: 4 });
  const options = {
    clientID: 'app',
    clientSecret: 'secret',
    callbackURL: 'https://foyer.example/cb',
    store,
    pkce: true,
    authorizationURL: 'https://idp.example/authorize',
    tokenURL: 'https://idp.example/token',
    profileURL: 'https://idp.example/me',
    userProfileURL: 'https://idp.example/v1/userinfo',
  };
  const verify = (_token: string, _refresh: string, profile: object, done: (error: null, user: object) => void) =>
    done(null, profile);
  const family: [string, () => Family][] = [
    ['google', () => new Google(options as never, verify as never) as unknown as Family],
    ['facebook', () => new Facebook(options as never, verify as never) as unknown as Family],
    ['amazon', () => new Amazon(options, verify) as unknown as Family],
  ];

  it.each(family)(
    'The strategy %s sends every request of `_oauth2` through `_request`, also on a copy of it',
    async (_name, open) => {
      const { _oauth2: own } = open();
      const copy: OAuthClient = Object.create(own);
      const asked: string[] = [];
      copy._request = (method, url, headers, body, token, done) => {
        asked.push(`${method} ${url}`);
        expect([
          typeof headers,
          typeof body === 'string' || body === '',
          token === null || typeof token === 'string',
        ]).toEqual(['object', true, true]);
        (done as (error: null, text: string) => void)(null, '{"access_token":"t"}');
      };
      copy._useAuthorizationHeaderForGET = true;
      const token = await new Promise((resolve) =>
        copy.getOAuthAccessToken('code', { grant_type: 'authorization_code' }, (_error, value) => resolve(value)),
      );
      await new Promise((resolve) => copy.get('https://idp.example/me', 't', resolve));
      expect([token, asked]).toEqual(['t', ['POST https://idp.example/token', 'GET https://idp.example/me']]);
      expect(typeof own._request).toBe('function');
      expect(typeof own._useAuthorizationHeaderForGET).toBe('boolean');
    },
  );

  it.each(family)('The strategy %s uses Foyer’s state store, which gets the verifier of S256', (_name, open) => {
    stored.length = 0;
    const strategy = open();
    expect([strategy._stateStore, strategy._pkceMethod]).toEqual([store, 'S256']);
    const running = Object.assign(Object.create(strategy), {
      error: (error: unknown) => expect(error).toBeUndefined(),
    });
    running.authenticate({ query: {} }, {});
    const [req, verifier, , , done] = stored[0] ?? [];
    expect([req, typeof verifier, typeof done]).toEqual([{ query: {} }, 'string', 'function']);
    running.authenticate({ query: { code: 'c', state: 's' } }, {});
    const [, state, , verified] = stored[1] ?? [];
    expect([state, typeof verified]).toEqual(['s', 'function']);
  });

  it.each(family)('The strategy %s reads the profile on a copy by `_oauth2.get` of that copy', async (_name, open) => {
    const running: Family = Object.create(open());
    running._oauth2 = Object.create(running._oauth2);
    running._oauth2.get = (_url, _token, done) => done(null, '{"id":"1","sub":"1","user_id":"1","name":"Ada"}');
    const profile = await new Promise<{ _json: object } | undefined>((resolve, reject) =>
      running.userProfile('t', (error, found) => (error ? reject(error as Error) : resolve(found))),
    );
    expect(profile?._json).toMatchObject({ name: 'Ada' });
  });

  it.each(family)('The strategy %s ends with the functions of the copy that ran it', async (_name, open) => {
    const ended = await new Promise<string>((resolve) => {
      const running = Object.assign(Object.create(open()), { fail: () => resolve('fail') });
      running.authenticate({ query: { error: 'access_denied' } }, {});
    });
    expect(ended).toBe('fail');
  });

  it('The library openid-client has the methods that Foyer overrides', () => {
    for (const name of ['authorizationRequestParams', 'currentUrl', 'authenticate'] as const)
      expect([name, typeof PassportOidc.prototype[name]]).toEqual([name, 'function']);
  });

  it('The library node-saml has the methods for logouts and for one strategy with many providers', () => {
    for (const name of [
      'validatePostRequestAsync',
      'validatePostResponseAsync',
      'getLogoutUrlAsync',
      'getLogoutResponseUrlAsync',
    ] as const)
      expect([name, typeof SAML.prototype[name]]).toEqual([name, 'function']);
    expect(typeof MultiSamlStrategy.prototype.authenticate).toBe('function');
  });

  it('The files package.json and package-lock.json name exactly the version that is installed', () => {
    const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
    const [ours, lock] = [read('package.json'), read('package-lock.json')];
    for (const name of [
      ...['passport', 'passport-amazon', 'passport-facebook', 'passport-google-oauth20', '@node-saml/passport-saml'],
      ...['openid-client', 'oidc-provider', 'xml-crypto', 'passport-oauth2', 'oauth'],
    ]) {
      const { version } = read(`node_modules/${name}/package.json`);
      const { dependencies, devDependencies } = lock.packages[''];
      const named = [
        ours.dependencies[name] ?? ours.devDependencies[name],
        dependencies[name] ?? devDependencies[name],
      ];
      expect([name, ...named, lock.packages[`node_modules/${name}`].version]).toEqual([
        name,
        version,
        version,
        version,
      ]);
    }
  });
});
