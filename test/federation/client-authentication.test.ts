import { generateKeyPairSync } from 'node:crypto';
import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose';
import type { OpenIdStandIn, ReceivedRequest } from './openid-stand-in.ts';
import { signInsAt, startOpenIdStandIn } from './openid-stand-in.ts';
import { refusal } from './strategies.ts';

const clientId = 'foyer-at-acme';
/** Percent-encoding changes it. */
const clientSecret = 'secret-of.acme_~';

const basicOf = ({ authorization }: ReceivedRequest) =>
  Buffer.from(authorization?.replace(/^Basic /, '') ?? '', 'base64').toString();
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[-_.~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** Whether a request of the client comes in this way. */
const comesBy = {
  basic: (request: ReceivedRequest) => basicOf(request) === `${encoded(clientId)}:${encoded(clientSecret)}`,
  'basic-raw': (request: ReceivedRequest) => basicOf(request) === `${clientId}:${clientSecret}`,
  post: ({ authorization, form }: ReceivedRequest) =>
    authorization === undefined && form.get('client_id') === clientId && form.get('client_secret') === clientSecret,
};
type SecretWay = keyof typeof comesBy;
const secretWays = ['basic', 'basic-raw', 'post'] as const;

describe('the way to authenticate at an OpenID provider', () => {
  let standIn: OpenIdStandIn;
  beforeEach(async () => {
    standIn = await startOpenIdStandIn();
  });
  afterEach(() => standIn?.close());

  /** The provider takes this way alone, and does not say so. */
  const takesOnly = (way: SecretWay, word = 'invalid_client') => {
    standIn.traits.refuse = (request) => (comesBy[way](request) ? undefined : word);
  };
  const wrong = { kind: 'not-set-up', detail: expect.stringMatching(/^token endpoint: (in|unauth)\w+_client$/) };

  it.each(secretWays)(
    'A provider that takes %s alone is signed in at with that setting, and with no other',
    async (way) => {
      takesOnly(way);
      for (const setting of secretWays) {
        const { signIn } = signInsAt(standIn, { clientSecret, clientAuthentication: setting });
        const before = standIn.count('/token');
        if (setting === way) expect(await signIn()).toMatchObject({ subject: 'ada' });
        else expect(await refusal(signIn())).toMatchObject(wrong);
        expect(standIn.count('/token')).toBe(before + 1);
      }
    },
  );

  it.each(secretWays.flatMap((way) => [['invalid_client', way] as const, ['unauthorized_client', way] as const]))(
    'Without a setting, a provider that answers %s is tried by the other ways once, and %s is remembered',
    async (word, way) => {
      takesOnly(way, word);
      const { signIn } = signInsAt(standIn, { clientSecret });
      expect(await signIn()).toMatchObject({ subject: 'ada' });
      expect(standIn.count('/token')).toBe(secretWays.indexOf(way) + 1);
      expect(await signIn()).toMatchObject({ subject: 'ada' });
      expect(standIn.count('/token')).toBe(secretWays.indexOf(way) + 2);
    },
  );

  it('Without a setting, the way that discovery names is tried first', async () => {
    standIn.traits.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    takesOnly('post');
    await signInsAt(standIn, { clientSecret }).signIn();
    expect(standIn.count('/token')).toBe(1);
  });

  it('A secret that percent-encoding does not change is not sent twice in the same form', async () => {
    standIn.traits.refuse = () => 'invalid_client';
    await refusal(signInsAt(standIn, { clientId: 'foyer', clientSecret: 'Secret1' }).signIn());
    expect(standIn.count('/token')).toBe(2);
  });

  it('Of eight sign-ins at once, one tries the other ways and all of them succeed', async () => {
    takesOnly('post');
    const { signIn } = signInsAt(standIn, { clientSecret });
    const everyone = await Promise.all(Array.from({ length: 8 }, signIn));
    expect(everyone.map(({ subject }) => subject)).toEqual(everyone.map(() => 'ada'));
    // Each comes by Basic first and by the form at last; one of them tries Basic without encoding.
    expect(standIn.count('/token')).toBe(8 * 2 + 1);
  });

  it('Attack: visitors cannot make Foyer send its credentials in all ways again and again', async () => {
    standIn.traits.refuse = () => 'invalid_client';
    let nowMs = Date.now();
    const { signIn } = signInsAt(standIn, { clientSecret }, { now: () => nowMs });
    expect(await refusal(signIn())).toMatchObject(wrong);
    expect(standIn.count('/token')).toBe(3);
    for (let n = 0; n < 20; n += 1) await refusal(signIn());
    expect(standIn.count('/token')).toBe(23);
    nowMs += 10 * 60_000;
    await refusal(signIn());
    expect(standIn.count('/token')).toBe(26);
  });

  it('Attack: a made-up code does not change the way to authenticate', async () => {
    takesOnly('basic');
    const { provider, begin } = signInsAt(standIn, { clientSecret });
    const begun = await begin();
    const forged = standIn.answer(begun);
    forged.searchParams.set('code', 'made-up');
    const req = { originalUrl: forged.href, query: {} } as never;
    const attempt = { ...begun, provider: provider.id, intent: { kind: 'sign-in' }, continuation: '' } as never;
    expect(await refusal(provider.strategy.finish(req, attempt))).toMatchObject({ kind: 'invalid' });
    expect(standIn.count('/token')).toBe(1);
  });

  it('A 401 without an error word, or with a challenge beside it, means that the client is refused', async () => {
    takesOnly('post', '');
    expect(await signInsAt(standIn, { clientSecret }).signIn()).toMatchObject({ subject: 'ada' });
  });

  describe('by private_key_jwt', () => {
    const keys = {
      RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
      PS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
      ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    };
    const algorithms = ['RS256', 'PS256', 'ES256'] as const;
    const pem = (alg: keyof typeof keys) => keys[alg].export({ type: 'pkcs8', format: 'pem' }).toString();
    const jwk = (alg: keyof typeof keys) =>
      JSON.stringify({ ...keys[alg].export({ format: 'jwk' }), kid: `key-${alg}`, alg });
    /** The client at this provider, which knows the published keys and this audience. */
    const register = (published: readonly object[] | undefined, audience: string) => {
      const known = createLocalJWKSet({ keys: [...(published ?? [])] as JWK[] });
      const asked: { alg: string | undefined }[] = [];
      const checks: Promise<unknown>[] = [];
      standIn.traits.refuse = ({ path, form }) => {
        const assertion = form.get('client_assertion');
        if (path !== '/token') return undefined;
        if (!assertion) return 'invalid_client';
        asked.push({ alg: decodeProtectedHeader(assertion).alg });
        const expected = { audience, issuer: clientId, subject: clientId, maxTokenAge: 60 };
        checks.push(jwtVerify(assertion, known, expected).then(() => 'verified', String));
        const payload = JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString());
        return payload.aud === audience ? undefined : 'invalid_client';
      };
      return { asked, checks };
    };

    it.each(algorithms.flatMap((alg) => [[alg, 'PEM', pem] as const, [alg, 'JWK', jwk] as const]))(
      'Foyer authenticates by a key for %s from a %s file, and publishes its public part',
      async (alg, form, text) => {
        const privateKey = standIn.write(`${alg}.${form}`, text(alg));
        // A PEM file does not say for which of both RSA algorithms its key is.
        standIn.traits.metadata = { token_endpoint_auth_signing_alg_values_supported: [alg] };
        const { provider, signIn } = signInsAt(standIn, { clientAuthentication: 'private_key_jwt', privateKey });
        expect(provider.clientKeys).toEqual([expect.objectContaining({ use: 'sig', kid: expect.any(String) })]);
        expect(JSON.stringify(provider.clientKeys)).not.toMatch(/"(?:d|p|q|dp|dq|qi)":/);
        const { asked, checks } = register(provider.clientKeys, standIn.issuer);
        expect(await signIn()).toMatchObject({ subject: 'ada' });
        expect(asked).toEqual([{ alg }]);
        expect(await Promise.all(checks)).toEqual(['verified']);
      },
    );

    it('A provider that wants its token endpoint as the audience is signed in at, and is remembered', async () => {
      const privateKey = standIn.write('audience.pem', pem('ES256'));
      const { provider, signIn } = signInsAt(standIn, { privateKey });
      register(provider.clientKeys, `${standIn.issuer}/token`);
      expect(await signIn()).toMatchObject({ subject: 'ada' });
      expect(await signIn()).toMatchObject({ subject: 'ada' });
      expect(standIn.count('/token')).toBe(3);
    });

    it('A provider that takes private_key_jwt alone refuses a secret, and the refusal is not for visitors to mend', async () => {
      register([], standIn.issuer);
      expect(await refusal(signInsAt(standIn, { clientSecret }).signIn())).toMatchObject(wrong);
    });
  });
});
