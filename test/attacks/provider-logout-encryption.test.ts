import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CompactEncrypt, importPKCS8, type JWTPayload, UnsecuredJWT } from 'jose';
import { type OidcLogouts, startOidcLogouts } from '../federation/oidc-logout-steps.ts';
import { federationLog } from '../support/saml.ts';

interface Encryption {
  alg: string;
  enc: string;
  key?: KeyObject | Uint8Array;
  kid?: string;
}

const pair = (type: 'rsa' | 'ec') =>
  (type === 'rsa'
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  ).privateKey;
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const gcm = { alg: 'RSA-OAEP-256', enc: 'A256GCM' };

/** OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.6: encrypted as id tokens are. */
describe.each(['rsa', 'ec'] as const)('encrypted logout tokens for a key of %s', (type) => {
  const key = pair(type);
  let logouts: OidcLogouts;
  let kid = '';
  beforeAll(async () => {
    logouts = await startOidcLogouts((providers) => ({ decryptionKey: providers.write('decryption.pem', pem(key)) }));
    const { keys } = (await (await logouts.foyer.browser().get('/federation/acme-oidc/jwks')).json()) as {
      keys: { kid: string }[];
    };
    kid = keys[0]?.kid ?? '';
  });
  afterAll(() => logouts?.close());

  const own: Encryption = type === 'rsa' ? gcm : { alg: 'ECDH-ES', enc: 'A256GCM' };
  const encrypt = (text: string, how: Partial<Encryption> = {}) => {
    const { alg, enc, key: other = createPublicKey(key), kid: name = kid } = { ...own, ...how };
    return new CompactEncrypt(new TextEncoder().encode(text))
      .setProtectedHeader({ alg, enc, kid: name, cty: 'JWT' })
      .encrypt(other);
  };
  async function send(token: string) {
    const answer = await logouts.send({ logout_token: token });
    const text = await answer.text();
    const detail = text === '' ? undefined : String(JSON.parse(text).error_description);
    return { status: answer.status, detail };
  }
  /** Sends what a test makes of a right token, and expects that it is refused and ends nothing. */
  async function expectRefused(make: (claims: JWTPayload) => Promise<string> | string, detail: string) {
    const one = await logouts.visit();
    expect(await send(await make(logouts.claimsOf(one)))).toEqual({ status: 400, detail: `logout token: ${detail}` });
    expect(federationLog(logouts.foyer).at(-1)).toMatchObject({ outcome: 'logout-refused' });
    expect(await logouts.stillIn(one)).toEqual([true]);
  }

  const algorithms = type === 'rsa' ? ['RSA-OAEP-256', 'RSA-OAEP'] : ['ECDH-ES'];
  it.each(
    algorithms.flatMap((alg) =>
      ['A128GCM', 'A256GCM', 'A128CBC-HS256', 'A256CBC-HS512'].map((enc): [string, string] => [alg, enc]),
    ),
  )('A logout token that is encrypted with %s and %s ends the session', async (alg, enc) => {
    const [one, stranger] = [await logouts.visit(), await logouts.visit()];
    const token = await encrypt(await logouts.sign(logouts.claimsOf(one)), { alg, enc });
    expect(await send(token)).toEqual({ status: 200, detail: undefined });
    expect(await logouts.stillIn(one, stranger)).toEqual([false, true]);
    expect(logouts.foyer.logged()).not.toContain(token);
  });

  it('A signed logout token that is not encrypted is accepted, as such an id token is', async () => {
    const one = await logouts.visit();
    expect(await logouts.tell(logouts.claimsOf(one))).toBe(200);
    expect(await logouts.stillIn(one)).toEqual([false]);
  });

  it.each([1, 2, 3, 4])(
    'Attack: a logout token whose encrypted part %i was changed is refused with the same words',
    async (part) => {
      for (const enc of ['A256GCM', 'A128CBC-HS256'])
        await expectRefused(async (claims) => {
          const parts = (await encrypt(await logouts.sign(claims), { enc })).split('.');
          const bytes = Buffer.from(parts[part] ?? '', 'base64url');
          if (bytes.length === 0) parts[part] = 'AAAA';
          else {
            bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
            parts[part] = bytes.toString('base64url');
          }
          return parts.join('.');
        }, 'cannot be decrypted');
    },
  );

  it('Attack: a logout token for another key is refused, also under the name of the own one', async () => {
    const other = createPublicKey(pair(type));
    const to = (more: Partial<Encryption>) => async (claims: JWTPayload) =>
      encrypt(await logouts.sign(claims), { key: other, ...more });
    await expectRefused(to({}), 'cannot be decrypted');
    await expectRefused(to({ kid: 'other' }), 'encrypted for another key');
  });

  it.each<[string, Encryption]>([
    ['a shared key (dir)', { alg: 'dir', enc: 'A256GCM', key: new Uint8Array(32) }],
    ['a password', { alg: 'PBES2-HS256+A128KW', enc: 'A128GCM', key: new TextEncoder().encode('secret') }],
    ['a wrapped shared key', { alg: 'A256KW', enc: 'A256GCM', key: new Uint8Array(32) }],
  ])('Attack: a logout token that is encrypted with %s is refused', async (_what, how) => {
    await expectRefused(async (claims) => encrypt(await logouts.sign(claims), how), 'encrypted for another key');
  });

  it.each([
    [{ alg: 'RSA1_5', enc: 'A128GCM' }, 'encrypted for another key'],
    [{ alg: own.alg, enc: 'A192GCM' }, 'cannot be decrypted'],
    [{ enc: 'A128GCM' }, 'encrypted for another key'],
  ])('Attack: a logout token with the header %j is refused', async (header, detail) => {
    await expectRefused(async (claims) => {
      const [, ...parts] = (await encrypt(await logouts.sign(claims))).split('.');
      return [Buffer.from(JSON.stringify(header)).toString('base64url'), ...parts].join('.');
    }, detail);
  });

  it('Attack: an encrypted logout token that expands to more than a signed one may have is refused', async () => {
    const compressed = (text: string) =>
      new CompactEncrypt(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: own.alg, enc: own.enc, kid, zip: 'DEF' })
        .encrypt(createPublicKey(key));
    const long = (claims: JWTPayload, length: number) => logouts.sign({ ...claims, more: 'x'.repeat(length) });
    await expectRefused(async (claims) => compressed(await long(claims, 9_000)), 'too long');
    await expectRefused(async (claims) => compressed(await long(claims, 900_000)), 'cannot be decrypted');
    await expectRefused((claims) => long(claims, 9_000), 'too long');
  });

  it('Attack: an encrypted logout token without a good signature inside is refused', async () => {
    await expectRefused((claims) => encrypt(new UnsecuredJWT(claims).encode()), 'the algorithm is not asymmetric');
    await expectRefused((claims) => encrypt(JSON.stringify(claims)), 'not readable');
    const foreign = await importPKCS8(logouts.providers.otherSigner().privateKey, 'RS256');
    await expectRefused(
      async (claims) => encrypt(await logouts.sign(claims, {}, foreign)),
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    );
    await expectRefused(async (claims) => encrypt(await encrypt(await logouts.sign(claims))), 'not readable');
    await expectRefused(
      async (claims) => encrypt(await logouts.sign({ ...claims, aud: 'another-app' })),
      'for another client',
    );
  });

  it('Attack: a logout token is used once, encrypted anew or not', async () => {
    const one = await logouts.visit();
    const signed = await logouts.sign(logouts.claimsOf(one));
    expect((await send(await encrypt(signed))).status).toBe(200);
    const again = await logouts.visit(one);
    for (const token of [await encrypt(signed), signed])
      expect(await send(token)).toEqual({ status: 400, detail: 'logout token: used before' });
    expect(await logouts.stillIn(again)).toEqual([true]);
  });
});

describe('encrypted logout tokens without a key for them', () => {
  it('An encrypted logout token is refused, and the log says that there is no decryptionKey', async () => {
    const logouts = await startOidcLogouts();
    const answer = await logouts.send({ logout_token: 'a.b.c.d.e' });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'logout token: encrypted, and there is no decryptionKey' },
    ]);
    await logouts.close();
  });
});
