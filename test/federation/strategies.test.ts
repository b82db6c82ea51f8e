import { type StandardProvider, standardProviders } from '../../config/standard-providers.ts';
import type { Provider } from '../../server/federation/providers.ts';
import { providerIds as ids, codeFlowKinds as kinds } from '../support/provider-kinds.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { answerOf, begin, come, finish, providersBy, refusal, settingsOf } from './strategies.ts';

type Kind = (typeof kinds)[number];

/** The words of a provider that differ from those of OAuth 2.0. */
const errorsOf = (kind: Kind): Partial<StandardProvider['errors']> =>
  kind === 'oidc' ? {} : standardProviders[kind].errors;

describe('strategies', () => {
  let providers: TestProviders;
  let by: (kind: Kind) => Provider;
  /** Strategies with a short time limit. */
  let hasty: (kind: Kind) => Provider;
  beforeAll(async () => {
    providers = await startProviders();
    const environment = providers.environment();
    const patient = providersBy(settingsOf(environment));
    by = (kind) => patient(ids[kind]);
    const settings = settingsOf(environment);
    const impatient = providersBy(settings);
    hasty = (kind) => impatient(ids[kind]);
    // The metadata is cached first, so that the short limit applies to the answer alone.
    await begin(hasty('oidc'));
    settings.answerMs = 250;
  });
  afterAll(() => providers?.close());

  const as = (kind: Kind, who: Parameters<TestProviders['answerAs']>[0]) => {
    providers.answerAs(who, kind);
    return by(kind);
  };
  const lastAt = (path: string) => providers.exchanges.findLast((one) => one.path === path);

  describe('the identity that a provider returns', () => {
    it('Google confirms an address by email_verified alone', async () => {
      const { ada, grace, joan } = providers.people.google;
      expect(await come(as('google', ada))).toEqual({
        provider: 'google',
        kind: 'google',
        issuer: 'https://accounts.google.com',
        subject: expect.stringMatching(/^\d{21}$/),
        email: 'ada@example.com',
        emailVerified: true,
        givenName: 'Ada',
        familyName: 'Lovelace',
        picture: expect.stringMatching(/^https:/),
        session: { provider: 'google' },
      });
      expect(await come(as('google', grace))).toMatchObject({ email: 'grace@example.com', emailVerified: false });
      expect(await come(as('google', joan))).toMatchObject({ email: undefined, emailVerified: false });
      const text = { ...ada, emailVerified: 'true' as unknown as boolean };
      expect(await come(as('google', text))).toMatchObject({ emailVerified: true });
      const odd = { ...ada, emailVerified: 'yes' as unknown as boolean };
      expect(await come(as('google', odd))).toMatchObject({ emailVerified: false });
    });

    it('Facebook and Amazon never confirm an address', async () => {
      const { ada, joan } = providers.people.facebook;
      expect(await come(as('facebook', ada))).toEqual({
        provider: 'facebook',
        kind: 'facebook',
        issuer: 'https://www.facebook.com',
        subject: expect.stringMatching(/^\d+$/),
        email: 'ada@example.com',
        emailVerified: false,
        givenName: 'Ada',
        familyName: 'Lovelace',
        picture: expect.stringMatching(/^https:/),
        session: { provider: 'facebook' },
      });
      expect(await come(as('facebook', joan))).toMatchObject({ email: undefined });
      expect(await come(as('amazon', ada))).toEqual({
        provider: 'amazon',
        kind: 'amazon',
        issuer: 'https://www.amazon.com',
        subject: expect.stringMatching(/^amzn1\.account\./),
        email: 'ada@example.com',
        emailVerified: false,
        givenName: 'Ada',
        familyName: 'Lovelace',
        picture: undefined,
        session: { provider: 'amazon' },
      });
    });

    it('OpenID Connect confirms an address only in the configured domains', async () => {
      const { ada, grace } = providers.people.oidc;
      expect(await come(as('oidc', ada))).toEqual({
        provider: 'acme-oidc',
        kind: 'oidc',
        issuer: `${providers.url}/acme-oidc`,
        subject: expect.stringMatching(/^[0-9a-f]{32}$/),
        email: 'ada@acme.example',
        emailVerified: true,
        givenName: 'Ada',
        familyName: 'Lovelace',
        picture: undefined,
        session: { provider: 'acme-oidc', oidc: expect.objectContaining({ sid: expect.any(String) }) },
        shownAtMs: expect.any(Number),
      });
      expect(await come(as('oidc', grace))).toMatchObject({ email: 'grace@acme.example', emailVerified: false });
      for (const email of ['ada@elsewhere.example', 'ada@sub.acme.example', 'acme.example@evil.example']) {
        expect(await come(as('oidc', { ...ada, email, subject: 's' }))).toMatchObject({ email, emailVerified: false });
      }
    });

    it('Names, pictures and addresses are cleaned before they are used', async () => {
      const { ada } = providers.people.google;
      const strange = { ...ada, subject: '7', givenName: `Ada\u0000\n${'x'.repeat(200)}`, familyName: '' };
      const told = await come(as('google', { ...strange, picture: 'javascript:alert(1)', email: 'no address' }));
      expect(told).toMatchObject({ picture: undefined, email: undefined, emailVerified: true });
      expect(told.givenName).toMatch(/^Ada {2}x{95}$/);
      expect(await come(as('google', { ...ada, email: 'ADA@Example.COM' }))).toMatchObject({
        email: 'ada@example.com',
      });
    });
  });

  describe('the request to a provider', () => {
    it.each(kinds)('The request to %s has the attempt’s id as state and no secret in the address', async (kind) => {
      const { id, url } = await begin(by(kind));
      expect(url.searchParams.get('state')).toBe(id);
      expect(url.searchParams.get('redirect_uri')).toBe(`http://localhost:3000/federation/${ids[kind]}/callback`);
      expect(url.searchParams.get('response_type')).toBe('code');
      for (const secret of providers.secrets()) expect(url.href).not.toContain(secret);
    });

    it.each(kinds)('The request to %s uses PKCE with S256 and keeps the verifier in the attempt', async (kind) => {
      const { url, strategyState } = await begin(by(kind));
      expect(url.searchParams.get('code_challenge_method')).toBe('S256');
      const verifier = strategyState.verifier ?? strategyState.code_verifier;
      expect(verifier).toMatch(/^[\w-]{43}$/);
      expect(url.href).not.toContain(verifier as string);
      expect((await begin(by(kind))).strategyState).not.toEqual(strategyState);
    });

    it('A request has the login hint and asks for fresh authentication where the provider supports it', async () => {
      const asked = { loginHint: 'ada@example.com', repeated: true };
      const query = async (kind: Kind) => Object.fromEntries((await begin(by(kind), asked)).url.searchParams);
      expect(await query('google')).toMatchObject({ login_hint: 'ada@example.com', prompt: 'select_account' });
      expect(await query('facebook')).toMatchObject({ auth_type: 'reauthenticate' });
      const oidc = { login_hint: 'ada@example.com', prompt: 'login', max_age: '0', ui_locales: 'en' };
      expect(await query('oidc')).toMatchObject({ ...oidc, nonce: expect.stringMatching(/^[\w-]{43}$/) });
      expect((await begin(by('facebook'))).url.searchParams.get('auth_type')).toBe('rerequest');
      expect((await begin(by('oidc'))).url.searchParams.get('prompt')).toBeNull();
    });

    it('OpenID Connect refuses an earlier sign-in when a fresh one was requested', async () => {
      const { ada } = providers.people.oidc;
      providers.answerAs(ada, 'oidc');
      expect(await come(by('oidc'), { repeated: true })).toMatchObject({ givenName: 'Ada' });
      const slow = await startProviders({ now: () => Date.now() - 10 * 60_000 });
      try {
        const provider = providersBy(settingsOf(slow.environment()))('acme-oidc');
        slow.answerAs(ada, 'oidc');
        expect(await come(provider)).toMatchObject({ givenName: 'Ada' });
        slow.answerAs(ada, 'oidc');
        expect(await refusal(come(provider, { repeated: true }))).toMatchObject({ kind: 'not-fresh' });
      } finally {
        await slow.close();
      }
    });

    it('Tokens are sent in a header where the provider supports it, and with a proof at Facebook', async () => {
      for (const kind of kinds) await come(as(kind, providers.people[kind].ada));
      for (const path of ['/v1/userinfo', '/user/profile', '/acme-oidc/userinfo']) {
        expect(lastAt(path)).toMatchObject({ authorization: expect.stringMatching(/^bearer /i) });
        expect(lastAt(path)?.query).toEqual({});
      }
      expect(lastAt('/v23.0/me')?.query).toMatchObject({ appsecret_proof: expect.stringMatching(/^\w{64}$/) });
    });
  });

  describe('a faulty answer', () => {
    it.each(kinds)('A user who cancels at %s ends the attempt as cancelled', async (kind) => {
      const detail = errorsOf(kind).cancelled?.[0] ?? 'access_denied';
      expect(await refusal(come(as(kind, 'refuse')))).toMatchObject({ kind: 'cancelled', detail });
    });

    const broken = [
      ['error', 'provider-error'],
      ['no-code', 'invalid'],
      ['no-state', 'invalid'],
      ['wrong-state', 'invalid'],
      ['wrong-code', 'invalid'],
      ['token-error', 'invalid'],
      ['token-server-error', 'unreachable'],
      ['token-not-json', 'invalid'],
      ['token-empty', 'invalid'],
      ['token-huge', 'invalid'],
      ['token-drops', 'unreachable'],
      ['profile-error', 'provider-error'],
      ['profile-server-error', 'unreachable'],
      ['profile-not-json', 'invalid'],
      ['profile-empty', 'invalid'],
      ['profile-huge', 'invalid'],
      ['profile-drops', 'unreachable'],
    ] as const;
    it.each(kinds.flatMap((kind) => broken.map(([what, end]) => [kind, what, end] as const)))(
      'An answer of %s with the fault %s is refused without a secret in the log',
      async (kind, what, end) => {
        const refused = await refusal(come(as(kind, what)));
        expect(refused).toMatchObject({ kind: end });
        for (const secret of providers.secrets()) expect(refused.detail).not.toContain(secret);
      },
    );

    it.each(kinds.flatMap((kind) => (['token-hangs', 'profile-hangs'] as const).map((what) => [kind, what] as const)))(
      'An answer of %s with the fault %s ends as unreachable after the time limit',
      async (kind, what) => {
        providers.answerAs(what, kind);
        const begun = await begin(by(kind));
        const answer = await answerOf(begun.url);
        const from = Date.now();
        expect(await refusal(finish(hasty(kind), begun, answer))).toMatchObject({ kind: 'unreachable' });
        expect(Date.now() - from).toBeLessThan(5_000);
      },
    );

    it.each([
      'id-token-missing',
      'id-token-unsigned',
      'id-token-other-key',
      'id-token-wrong-issuer',
      'id-token-wrong-audience',
      'id-token-wrong-nonce',
      'id-token-expired',
      'other-subject',
      'wrong-iss',
    ] as const)('An OpenID Connect answer with the fault %s is refused', async (what) => {
      expect(await refusal(come(as('oidc', what)))).toMatchObject({ kind: 'invalid' });
    });

    it.each(kinds)(
      'An answer of %s with a repeated, an endless or no parameter is refused and leaves the attempt valid',
      async (kind) => {
        providers.answerAs(providers.people[kind].ada, kind);
        const begun = await begin(by(kind));
        const answer = await answerOf(begun.url);
        const twice = new URL(`${answer.href.split('#')[0]}&code=another`);
        const long = new URL(answer);
        long.searchParams.set('code', 'x'.repeat(20_000));
        const empty = new URL(answer);
        empty.search = '';
        for (const wrong of [twice, long, empty]) {
          const req = { ...begun, kept: { ...begun.strategyState } };
          expect(await refusal(finish(by(kind), req, wrong))).toMatchObject({ kind: 'invalid' });
        }
        // The attempt and its code are still valid.
        expect(await finish(by(kind), begun, answer)).toMatchObject({ givenName: 'Ada' });
      },
    );

    it.each(kinds)('An answer of %s without an attempt is refused as foreign', async (kind) => {
      const req = { originalUrl: '/?code=1&state=2', query: { code: '1', state: '2' } } as never;
      expect(await refusal(by(kind).strategy.finish(req, undefined))).toMatchObject({ kind: 'foreign' });
    });
  });

  describe('several attempts at once', () => {
    it.each(kinds)('Two attempts at %s each have their own verifier and end with their own identity', async (kind) => {
      const { ada, vera } = providers.people[kind];
      const [first, second] = [await begin(by(kind)), await begin(by(kind))];
      providers.answerAs(ada, kind);
      const adas = await answerOf(first.url);
      providers.answerAs(vera, kind);
      const veras = await answerOf(second.url);
      expect(await finish(by(kind), second, veras)).toMatchObject({ givenName: 'Vera' });
      expect(await finish(by(kind), first, adas)).toMatchObject({ givenName: 'Ada' });
    });

    it.each(kinds)('Attack: a code of another attempt at %s is refused (PKCE)', async (kind) => {
      providers.answerAs(providers.people[kind].vera, kind);
      const stolen = (await answerOf((await begin(by(kind))).url)).searchParams.get('code') ?? '';
      providers.answerAs(providers.people[kind].ada, kind);
      const begun = await begin(by(kind));
      const answer = await answerOf(begun.url);
      answer.searchParams.set('code', stolen);
      expect(await refusal(finish(by(kind), begun, answer))).toMatchObject({
        kind: 'invalid',
        detail: `token endpoint: ${errorsOf(kind).wrongCode?.[0] ?? 'invalid_grant'}`,
      });
    });
  });

  it('The attempt keeps only verifier, nonce and state, and the identity has no token', async () => {
    for (const kind of kinds) {
      providers.answerAs(providers.people[kind].ada, kind);
      const begun = await begin(by(kind));
      const told = JSON.stringify([await finish(by(kind), begun, await answerOf(begun.url)), begun.url]);
      for (const secret of providers.secrets()) expect(told).not.toContain(secret);
      const known = ['verifier', 'code_verifier', 'nonce', 'state'];
      expect(Object.keys(begun.strategyState).filter((name) => !known.includes(name))).toEqual([]);
    }
  });
});
