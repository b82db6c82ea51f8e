import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CompactEncrypt, SignJWT, UnsecuredJWT } from 'jose';
import {
  makeSigningKey,
  type OpenIdStandIn,
  type SigningKey,
  signInsAt,
  startOpenIdStandIn,
} from '../federation/openid-stand-in.ts';
import { refusal } from '../federation/strategies.ts';

type Claims = Record<string, unknown>;
interface Encryption {
  alg: string;
  enc: string;
  key?: KeyObject | Uint8Array;
  kid?: string;
}

const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
};
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const sign = (claims: Claims, { alg, kid = '', privateKey }: SigningKey) =>
  new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(privateKey);

describe('encrypted id tokens', () => {
  let standIn: OpenIdStandIn;
  beforeEach(async () => {
    standIn = await startOpenIdStandIn();
  });
  afterEach(() => standIn?.close());

  /** Foyer with this key, which the provider has read from its address. */
  function open(key: KeyObject = keys.rsa) {
    const { signIn, provider } = signInsAt(standIn, { decryptionKey: standIn.write('decryption.pem', pem(key)) });
    const { kid } = Object(provider.clientKeys?.[0]);
    const encrypt = (text: string, { alg, enc, key: other, kid: name = kid }: Encryption) =>
      new CompactEncrypt(new TextEncoder().encode(text))
        .setProtectedHeader({ alg, enc, kid: name, cty: 'JWT' })
        .encrypt(other ?? createPublicKey(key));
    const send = (make: (claims: Claims, key: SigningKey) => Promise<string>) => {
      standIn.traits.idToken = make;
      return signIn();
    };
    return { provider, encrypt, send };
  }
  const gcm = { alg: 'RSA-OAEP-256', enc: 'A256GCM' };

  it.each(
    ['A128GCM', 'A256GCM', 'A128CBC-HS256', 'A256CBC-HS512'].flatMap((enc) => [
      ['RSA-OAEP-256', enc, keys.rsa] as const,
      ['RSA-OAEP', enc, keys.rsa] as const,
      ['ECDH-ES', enc, keys.ec] as const,
    ]),
  )('An id token that is encrypted with %s and %s is read', async (alg, enc, key) => {
    const { encrypt, send } = open(key);
    expect(await send(async (claims, own) => encrypt(await sign(claims, own), { alg, enc }))).toMatchObject({
      subject: 'ada',
    });
  });

  it('The key is published for encryption, without its private part, and the id token is still signed', async () => {
    const { provider, send } = open(keys.ec);
    expect(provider.clientKeys).toEqual([
      {
        kty: 'EC',
        crv: 'P-256',
        x: expect.any(String),
        y: expect.any(String),
        kid: expect.any(String),
        use: 'enc',
        alg: 'ECDH-ES',
      },
    ]);
    expect(await send(sign)).toMatchObject({ subject: 'ada' });
  });

  it('An encrypted id token is bound to its access token like another', async () => {
    const { encrypt, send } = open();
    const wrong = { at_hash: 'A'.repeat(22) };
    const refused = send(async (claims, own) => encrypt(await sign({ ...claims, ...wrong }, own), gcm));
    expect(await refusal(refused)).toMatchObject({ kind: 'invalid' });
  });

  describe('attacks', () => {
    it.each([0, 1, 2, 3, 4])(
      'Attack: an id token whose encrypted part %i was changed is refused with the same words',
      async (part) => {
        for (const how of [gcm, { alg: 'RSA-OAEP-256', enc: 'A128CBC-HS256' }]) {
          const { encrypt, send } = open();
          const changed = send(async (claims, own) => {
            const parts = (await encrypt(await sign(claims, own), how)).split('.');
            const bytes = Buffer.from(parts[part] ?? '', 'base64url');
            bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
            parts[part] = bytes.toString('base64url');
            return parts.join('.');
          });
          expect(await refusal(changed)).toMatchObject({ kind: 'invalid', detail: 'OAUTH_DECRYPTION_FAILED' });
        }
      },
    );

    it('Attack: an id token for another key is refused, also under the name of the own one', async () => {
      const { encrypt, send } = open();
      const other = createPublicKey(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
      const named = send(async (claims, own) => encrypt(await sign(claims, own), { ...gcm, key: other }));
      expect(await refusal(named)).toMatchObject({ kind: 'invalid', detail: 'OAUTH_DECRYPTION_FAILED' });
      const unknown = send(async (claims, own) =>
        encrypt(await sign(claims, own), { ...gcm, key: other, kid: 'other' }),
      );
      expect(await refusal(unknown)).toMatchObject({
        kind: 'not-set-up',
        detail: 'the id token is encrypted for another key',
      });
    });

    it.each<[string, Encryption]>([
      ['a shared key (dir)', { alg: 'dir', enc: 'A256GCM', key: new Uint8Array(32) }],
      ['a password', { alg: 'PBES2-HS256+A128KW', enc: 'A128GCM', key: new TextEncoder().encode('secret') }],
      ['a wrapped shared key', { alg: 'A256KW', enc: 'A256GCM', key: new Uint8Array(32) }],
    ])('Attack: an id token that is encrypted with %s is refused', async (_what, how) => {
      const { encrypt, send } = open();
      const refused = send(async (claims, own) => encrypt(await sign(claims, own), how));
      expect((await refusal(refused)).kind).not.toBe('cancelled');
      expect(await refusal(send(async (claims, own) => encrypt(await sign(claims, own), how)))).toMatchObject({
        kind: 'not-set-up',
      });
    });

    it.each([
      { alg: 'RSA1_5', enc: 'A128GCM' },
      { alg: 'none', enc: 'A128GCM' },
      { alg: 'RSA-OAEP-256', enc: 'unknown' },
    ])('Attack: an id token with the header %j is refused', async (header) => {
      const { encrypt, send } = open();
      const refused = send(async (claims, own) => {
        const [, ...parts] = (await encrypt(await sign(claims, own), gcm)).split('.');
        return [Buffer.from(JSON.stringify(header)).toString('base64url'), ...parts].join('.');
      });
      expect((await refusal(refused)).detail).toMatch(/encrypted in a way that is not supported|DECRYPTION_FAILED/);
    });

    it('Attack: an encrypted id token without a signature inside, or with plain claims, is refused', async () => {
      const { encrypt, send } = open();
      for (const text of [
        (claims: Claims) => new UnsecuredJWT(claims).encode(),
        (claims: Claims) => JSON.stringify(claims),
      ])
        expect(await refusal(send(async (claims) => encrypt(text(claims), gcm)))).toMatchObject({ kind: 'invalid' });
    });

    it('Attack: an encrypted id token that a foreign key has signed is refused', async () => {
      const { encrypt, send } = open();
      const foreign = await makeSigningKey('RS256', String(standIn.traits.key.kid));
      const refused = send(async (claims) => encrypt(await sign(claims, foreign), gcm));
      expect(await refusal(refused)).toMatchObject({ kind: 'invalid' });
    });

    it('Attack: an id token that is encrypted twice is refused', async () => {
      const { encrypt, send } = open();
      const twice = send(async (claims, own) => encrypt(await encrypt(await sign(claims, own), gcm), gcm));
      expect(await refusal(twice)).toMatchObject({ kind: 'invalid' });
    });
  });
});
