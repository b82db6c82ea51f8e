import passportModule from 'passport';
import OAuth2Strategy from 'passport-oauth2';
import { providerKinds as kinds } from '../../config/standard-providers.ts';
import { LimitedOAuth2Client } from '../../server/federation/providers/oauth2-client.ts';
import { AttemptStateStore, authenticate } from '../../server/federation/providers/passport.ts';
import { openStrategies } from '../../server/federation/strategies.ts';
import { locationOf, noticeOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toFlowId } from '../support/ids.ts';
import { providerIds as ids } from '../support/provider-kinds.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { anyBackend } from '../support/stores.ts';
import { answerOf, comeBy, pressButton, somebody } from './steps.ts';
import { begin, finish, refusal, settingsOf } from './strategies.ts';

const { Passport } = passportModule;

type Actions = passportModule.StrategyCreatedStatic;

/** A strategy that replaces the one of a provider. */
const stub = (act: (actions: Actions) => void): passportModule.Strategy => ({
  authenticate() {
    act(this);
  },
});

describe('the strategies of federation run through Passport', () => {
  let providers: TestProviders;
  beforeAll(async () => {
    providers = await startProviders();
  });
  afterAll(() => providers?.close());

  function open() {
    const passport = new Passport();
    const all = openStrategies({ ...settingsOf(providers.environment()), answerMs: 250 }, passport);
    const by = (kind: keyof typeof ids) => {
      const found = all.find(({ id }) => id === ids[kind]);
      if (!found) throw new Error(`no provider ${kind}`);
      return found;
    };
    return { passport, by };
  }
  const answer = new URL('http://localhost:3000/federation/google/callback?code=c');
  const answerTo = (id: string) => {
    const url = new URL(answer);
    url.searchParams.set('state', id);
    return url;
  };

  it.each(kinds)(
    'A sign-in by %s calls passport.authenticate with the provider id and without a session',
    async (kind) => {
      const { passport, by } = open();
      const call = jest.spyOn(passport, 'authenticate');
      const { url } = await begin(by(kind));
      expect(url.href.startsWith(providers.url)).toBe(true);
      expect(call.mock.calls).toEqual([[ids[kind], expect.objectContaining({ session: false }), expect.any(Function)]]);
    },
  );

  it('A strategy that is registered under the id of a provider runs in place of its own strategy', async () => {
    const { passport, by } = open();
    passport.use(
      'google',
      stub((strategy) => strategy.redirect('https://idp.example/authorize')),
    );
    const begun = await begin(by('google'));
    expect(begun.url.href).toBe('https://idp.example/authorize');
    passport.use(
      'google',
      stub((strategy) => strategy.success({ sub: '1', given_name: 'Ada' })),
    );
    expect(await finish(by('google'), begun, answerTo(begun.id))).toMatchObject({ subject: '1', givenName: 'Ada' });
  });

  it.each([
    ['fails', 'cancelled', (strategy: Actions) => strategy.fail({ message: 'no' }, 401)],
    ['refuses the state', 'invalid', (strategy: Actions) => strategy.fail({ message: 'no' }, 403)],
    ['reports an error', 'invalid', (strategy: Actions) => strategy.error(new Error('x'))],
    ['passes', 'invalid', (strategy: Actions) => strategy.pass()],
    [
      'throws',
      'invalid',
      () => {
        throw new Error('x');
      },
    ],
    ['does not answer', 'unreachable', () => {}],
  ] as const)('A strategy that %s ends the attempt as %s', async (_what, kind, act) => {
    const { passport, by } = open();
    const begun = await begin(by('google'));
    passport.use('google', stub(act));
    expect(await refusal(finish(by('google'), begun, answerTo(begun.id)))).toMatchObject({ kind });
  });

  it('Two configurations of one process have a Passport each, so that equal ids do not meet', async () => {
    const [one, other] = [open(), open()];
    one.passport.use(
      'google',
      stub((strategy) => strategy.redirect('https://idp.example/authorize')),
    );
    expect((await begin(other.by('google'))).url.href.startsWith(providers.url)).toBe(true);
  });

  it('An id under which no strategy is registered is an error', async () => {
    const request = { query: {} };
    await expect(authenticate({ passport: new Passport(), id: 'unknown-provider' }, request)).rejects.toThrow(
      /unknown-provider/,
    );
  });

  describe('the state of an OAuth 2.0 request', () => {
    const strategy = () =>
      new OAuth2Strategy(
        {
          authorizationURL: 'https://idp.example/authorize',
          tokenURL: `${providers.url}/token`,
          clientID: 'app',
          clientSecret: 'secret',
          store: new AttemptStateStore(),
          pkce: true,
        },
        () => {},
      );
    const registered = () => ({ passport: new Passport().use('idp', strategy()), id: 'idp' });

    it('A new request writes its verifier into its own attempt alone', async () => {
      const [first, second] = [
        { id: toFlowId('first'), strategyState: {} },
        { id: toFlowId('second'), strategyState: {} },
      ];
      const idp = registered();
      await authenticate(idp, { query: {}, attempt: first });
      await authenticate(idp, { query: {}, attempt: second });
      expect([first.strategyState, second.strategyState]).toEqual(
        Array.from({ length: 2 }, () => ({ verifier: expect.stringMatching(/^[\w-]{43}$/) })),
      );
      expect(first.strategyState).not.toEqual(second.strategyState);
    });

    it.each([
      ['of another attempt', 'other', { verifier: 'v' }],
      ['of an attempt without a verifier', 'own', {}],
    ])(
      'An answer with the state %s is refused before the token endpoint is asked',
      async (_what, state, strategyState) => {
        const asked = providers.exchanges.length;
        const result = await authenticate(registered(), {
          query: { code: 'c', state },
          attempt: { id: toFlowId('own'), strategyState },
        });
        expect(result).toEqual({ kind: 'fail', status: 403 });
        expect(providers.exchanges).toHaveLength(asked);
      },
    );

    it('A request without an attempt is an error, never a request without state', async () => {
      await expect(authenticate(registered(), { query: {} })).rejects.toThrow(/without an attempt/);
      await expect(authenticate(registered(), { query: { code: 'c', state: 's' } })).rejects.toThrow(
        /without an attempt/,
      );
    });
  });

  it('An error in the code that reads an answer of a provider reaches its callback and does not end the process', async () => {
    const { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET } = settingsOf(providers.environment()).config;
    const endpoints = { authorizationURL: providers.url, tokenURL: `${providers.url}/token` };
    const credentials = { clientID: GOOGLE_CLIENT_ID ?? '', clientSecret: GOOGLE_CLIENT_SECRET ?? '' };
    const client = new LimitedOAuth2Client({ ...credentials, ...endpoints, bearer: true }, {});
    const discovery = `${providers.url}/acme-oidc/.well-known/openid-configuration`;
    const results: unknown[] = [];
    const end = await new Promise((resolve) => {
      client.get(discovery, 'token', (error) => {
        results.push(error);
        if (results.length > 1) resolve(error);
        else throw new Error('it cannot be read');
      });
    });
    expect([results[0], end]).toEqual([null, new Error('it cannot be read')]);
  });
});

describe('the routes of federation run through Passport', () => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    const backend = anyBackend;
    providers = await startProviders();
    foyer = await startFoyer(backend, { ...providers.environment(), GUESS_LIMIT_ADDRESS: '100000' });
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  it.each(kinds)(
    'POST /federation/:provider and the answer of %s call passport.authenticate once each',
    async (kind) => {
      const call = jest.spyOn(Passport.prototype, 'authenticate');
      const answer = await comeBy(providers, foyer.browser(), kind, somebody(providers, kind));
      expect(noticeOf(locationOf(answer))).toBeNull();
      expect(call.mock.calls.map(([id]) => id)).toEqual([ids[kind], ids[kind]]);
    },
  );

  it.each(kinds)(
    'The parameters of a client and of the form at the button of %s are not taken for an answer of the provider',
    async (kind) => {
      const hostile = '?code=stolen&state=planted&error=access_denied&SAMLResponse=PGEvPg==&RelayState=planted';
      const browser = foyer.browser();
      const page = await browser.post(`/federation/${ids[kind]}${hostile}`, {
        code: 'stolen',
        state: 'planted',
        SAMLResponse: 'PGEvPg==',
      });
      expect(page.status).toBe(200);
      const address = await pressButton(browser, kind, { search: hostile });
      const { searchParams } = new URL(address);
      expect(address.startsWith(providers.url)).toBe(true);
      expect(searchParams.get(kind === 'saml' ? 'RelayState' : 'state')).toMatch(/^[\w-]{43}$/);
      expect(searchParams.get('code')).toBeNull();
      if (kind === 'saml') return;
      const answer = await answerOf(providers, kind, somebody(providers, kind), address);
      expect((await browser.get(answer, { from: 'cross-site' })).status).toBe(303);
    },
  );
});
