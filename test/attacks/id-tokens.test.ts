import { createHash } from 'node:crypto';
import { exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import type { IdTokenChange } from '../../sandbox/providers/index.ts';
import { findUserByIdentifier } from '../../server/users/index.ts';
import { pathOf, pressButton, somebody } from '../federation/steps.ts';
import { locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import type { TestProviders } from '../support/providers.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

type Claims = Parameters<IdTokenChange>[0];
type Keys = Parameters<IdTokenChange>[1];
const nowS = () => Math.floor(Date.now() / 1_000);
const withClaims = (change: Claims) => (claims: Claims) => ({ ...claims, ...change });
const without = (name: string) => (claims: Claims) =>
  Object.fromEntries(Object.entries(claims).filter(([one]) => one !== name));
const signed = (claims: Claims, { kid, privateKey }: Keys, header: object = {}) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid, ...header }).sign(privateKey);

/** OpenID Connect Core 1.0, section 3.1.3.7: each check of an id token, in an answer that is otherwise right. */
describe.each(backends)('a wrong ID token of a provider, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  startWithProviders(
    backend,
    (started) => ({
      ...started.environment(),
      GUESS_LIMIT_ADDRESS: '100000',
      SIGN_UP_LIMIT_ADDRESS: '100000',
    }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  async function come(idToken: IdTokenChange) {
    const who = somebody(providers, 'oidc');
    const browser = foyer.browser();
    const address = await pressButton(browser, 'oidc');
    providers.answerAs({ person: who, idToken }, 'oidc');
    const callback = locationOf(await sendRequest(address, { redirect: 'manual' }));
    const to = pathOf(foyer, await browser.get(callback, { from: 'cross-site' }));
    const member = await findUserByIdentifier(foyer.stores.database.db, { email: toNormalisedEmail(who.email ?? '') });
    const lines = foyer
      .logged()
      .split('\n')
      .filter((line) => line.includes('"act":"federation"'));
    return { to, member, last: JSON.parse(lines.at(-1) ?? '{}') as { outcome: string; detail: string } };
  }

  it('A right ID token, from which each wrong one differs in one way, signs the user in', async () => {
    // Each wrong token differs from these in one thing.
    for (const right of [
      (claims: Claims) => claims,
      withClaims({ aud: ['foyer-at-acme'] }),
      withClaims({ azp: 'foyer-at-acme' }),
      withClaims({ nbf: nowS() - 10 }),
      (claims: Claims, keys: Keys) => signed(claims, keys),
    ]) {
      const { to, member } = await come(right);
      expect(to).toMatch(/^\/tos/);
      expect(member).toBeDefined();
    }
  });

  const other = generateKeyPair('RS256');
  const curve = generateKeyPair('ES256');
  const cases: [string, IdTokenChange][] = [
    ['alg none', (claims) => new UnsecuredJWT(claims).encode()],
    [
      'alg none with the signature of a right one',
      async (claims, keys) => `${new UnsecuredJWT(claims).encode()}${(await signed(claims, keys)).split('.')[2]}`,
    ],
    [
      'HS256 with the public key as its secret, in PEM',
      async (claims, { publicJwk, kid }) => {
        const pem = await exportSPKI((await importJWK(publicJwk, 'RS256')) as CryptoKey);
        return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(Buffer.from(pem));
      },
    ],
    [
      'HS256 with the public key as its secret, as JWK',
      (claims, { publicJwk, kid }) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(Buffer.from(JSON.stringify(publicJwk))),
    ],
    [
      'HS256 with the modulus of the public key as its secret',
      (claims, { publicJwk, kid }) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256', kid })
          .sign(Buffer.from(String(publicJwk.n), 'base64url')),
    ],
    [
      'HS256 with the client secret',
      (claims, { kid }) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256', kid })
          .sign(createHash('sha256').update('secret-of-acme').digest()),
    ],
    [
      'the key of a stranger under the id of the provider’s',
      async (claims, { kid }) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign((await other).privateKey),
    ],
    [
      'the key of a stranger that stands in its own header',
      async (claims, { publicJwk }) => {
        const { privateKey } = await other;
        const jwk = { ...publicJwk, n: 'AQAB' };
        return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', jwk: jwk as never }).sign(privateKey);
      },
    ],
    [
      'another algorithm than the provider’s',
      async (claims, { kid }) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign((await curve).privateKey),
    ],
    ['an unpublished key id', (claims, keys) => signed(claims, keys, { kid: 'unknown-key' })],
    [
      'another payload under a right signature',
      async (claims, keys) => {
        const [head, , signature] = (await signed(claims, keys)).split('.');
        const body = Buffer.from(JSON.stringify({ ...claims, sub: 'victim' })).toString('base64url');
        return `${head}.${body}.${signature}`;
      },
    ],
    ['no JWT', () => 'this is no token'],
    ['another issuer', withClaims({ iss: 'https://evil.example' })],
    ['the issuer with a slash behind it', (claims) => ({ ...claims, iss: `${claims.iss}/` })],
    ['no issuer', without('iss')],
    ['another audience', withClaims({ aud: 'another-app' })],
    ['no audience', without('aud')],
    ['an empty list of audiences', withClaims({ aud: [] })],
    ['audiences of which none is meant to present it', withClaims({ aud: ['foyer-at-acme', 'another-app'] })],
    ['another authorized party', withClaims({ aud: ['foyer-at-acme', 'another-app'], azp: 'another-app' })],
    ['another authorized party and one audience', withClaims({ azp: 'another-app' })],
    ['another nonce', withClaims({ nonce: 'of-another-attempt' })],
    ['no nonce', without('nonce')],
    ['an end that has passed', withClaims({ exp: nowS() - 3_600 })],
    ['no end', without('exp')],
    ['an end that is no number', withClaims({ exp: 'tomorrow' })],
    ['no time of issue', without('iat')],
    ['a time of issue that is no number', withClaims({ iat: 'now' })],
    ['a start that lies ahead', withClaims({ nbf: nowS() + 3_600 })],
    ['no subject', without('sub')],
    ['an empty subject', withClaims({ sub: '' })],
    ['a subject that is a number', withClaims({ sub: 7 })],
    ['a subject of 256 characters', withClaims({ sub: 's'.repeat(256) })],
    ['the subject of another person than userinfo’s', withClaims({ sub: 'victim' })],
    ['the hash of another access token', withClaims({ at_hash: 'A'.repeat(22) })],
    ['a hash that is no text', withClaims({ at_hash: 7 })],
  ];

  it.each(cases)('A wrong ID token signs in no user and creates no account: %s', async (what, idToken) => {
    const { to, member, last } = await come(idToken);
    // A provider that signs with HMAC has to be configured otherwise: its operator is told so.
    const outcome = what.startsWith('HS256') ? 'not-set-up' : 'invalid';
    expect(to).toBe(`/#federation:${outcome}/acme-oidc`);
    expect(member).toBeUndefined();
    expect(last.outcome).toBe(outcome);
    for (const secret of [...providers.secrets(), 'another-app', 'evil.example', 'of-another-attempt'])
      expect(last.detail).not.toContain(secret);
  });
});
