import { createPublicKey } from 'node:crypto';
import { importPKCS8, type JWTPayload, UnsecuredJWT } from 'jose';
import { type OidcLogouts, startOidcLogouts } from '../federation/oidc-logout-steps.ts';
import { startFoyer } from '../support/foyer.ts';
import { federationLog } from '../support/saml.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

/** Logout tokens that an identity provider has not sent, or not for this. */
describe('attacks with logout tokens of an OpenID provider', () => {
  let logouts: OidcLogouts;
  beforeAll(async () => {
    logouts = await startOidcLogouts();
  });
  afterAll(() => logouts?.close());

  const seconds = (offset: number) => Math.floor(Date.now() / 1_000) + offset;
  const changes: [string, JWTPayload, string][] = [
    ['of another issuer', { iss: 'https://else.example' }, 'ERR_JWT_CLAIM_VALIDATION_FAILED iss'],
    ['for another client', { aud: 'another-app' }, 'for another client'],
    ['without an audience', { aud: undefined }, 'for another client'],
    ['that has expired', { iat: seconds(-600), exp: seconds(-300) }, 'ERR_JWT_EXPIRED exp'],
    ['that never expires', { exp: undefined }, 'ERR_JWT_CLAIM_VALIDATION_FAILED exp'],
    ['that somebody has kept for an hour', { iat: seconds(-3_600), exp: seconds(600) }, 'ERR_JWT_EXPIRED iat'],
    ['without a time', { iat: undefined }, 'ERR_JWT_CLAIM_VALIDATION_FAILED iat'],
    ['from the future', { iat: seconds(600), exp: seconds(900) }, 'ERR_JWT_CLAIM_VALIDATION_FAILED iat'],
    ['without events', { events: undefined }, 'ERR_JWT_CLAIM_VALIDATION_FAILED events'],
    ['with another event', { events: { 'urn:other': {} } }, 'without the event of a logout'],
    [
      'whose event is no object',
      { events: { 'http://schemas.openid.net/event/backchannel-logout': 1 } },
      'without the event of a logout',
    ],
    ['with a nonce, as an id token has', { nonce: 'n' }, 'with a nonce, as id tokens have'],
    ['without a jti', { jti: undefined }, 'ERR_JWT_CLAIM_VALIDATION_FAILED jti'],
    ['with neither sub nor sid', { sub: undefined, sid: undefined }, 'with neither sub nor sid'],
    ['whose sid is a list', { sid: ['a', 'b'] }, 'sid is no text'],
  ];
  it.each(changes)('Attack: a logout token %s is refused', async (_what, change, detail) => {
    const one = await logouts.visit();
    const answer = await logouts.send({ logout_token: await logouts.sign(logouts.claimsOf(one, change)) });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([400, 'no-store']);
    expect(await answer.json()).toEqual({ error: 'invalid_request', error_description: `logout token: ${detail}` });
    expect(federationLog(logouts.foyer).at(-1)).toMatchObject({
      outcome: 'logout-refused',
      detail: `logout token: ${detail}`,
    });
    expect(await logouts.stillIn(one)).toEqual([true]);
  });

  const publicPem = () =>
    createPublicKey(logouts.providers.samlSigner.certificate).export({ type: 'spki', format: 'pem' });
  const bytes = (text: string) => new TextEncoder().encode(text);
  const forgeries: [string, (claims: JWTPayload) => Promise<string> | string, string][] = [
    ['unsigned (alg none)', (claims) => new UnsecuredJWT(claims).encode(), 'the algorithm is not asymmetric'],
    [
      'signed with HS256 and the public key as its secret',
      (claims) => logouts.sign(claims, { alg: 'HS256' }, bytes(publicPem().toString())),
      'the algorithm is not asymmetric',
    ],
    [
      'signed with HS256 and the client secret',
      (claims) => logouts.sign(claims, { alg: 'HS256' }, bytes('secret-of-acme')),
      'the algorithm is not asymmetric',
    ],
    [
      'signed with the key of another, under the name of the provider’s key',
      async (claims) =>
        logouts.sign(claims, {}, await importPKCS8(logouts.providers.otherSigner().privateKey, 'RS256')),
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    ],
    [
      'signed with an algorithm that the provider does not name',
      async (claims) =>
        logouts.sign(claims, { alg: 'PS256' }, await importPKCS8(logouts.providers.samlSigner.privateKey, 'PS256')),
      'ERR_JOSE_ALG_NOT_ALLOWED',
    ],
    [
      'whose claims were changed after signing',
      async (claims) => {
        const [header, , signature] = (await logouts.sign({ ...claims, sid: 'mine' })).split('.');
        return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
      },
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    ],
    ['that is an access token by its type', (claims) => logouts.sign(claims, { typ: 'at+jwt' }), 'of another type'],
    ['that is no token', () => 'no.token', 'not readable'],
    ['that is empty', () => '', 'absent'],
    ['of ten thousand characters', () => 'a'.repeat(10_000), 'too long'],
  ];
  it.each(forgeries)('Attack: a logout token %s is refused', async (_what, forge, detail) => {
    const one = await logouts.visit();
    const answer = await logouts.send({ logout_token: await forge(logouts.claimsOf(one)) });
    expect([answer.status, (await answer.json()) as unknown]).toEqual([
      400,
      { error: 'invalid_request', error_description: `logout token: ${detail}` },
    ]);
    expect(await logouts.stillIn(one)).toEqual([true]);
  });

  it('Attack: the id token of a sign-in is no logout token', async () => {
    const one = await logouts.visit();
    const idToken = /"id_token":"([^"]+)"/.exec(
      logouts.providers.exchanges.findLast(({ path }) => path === '/acme-oidc/token')?.answer ?? '',
    )?.[1];
    expect((await logouts.send({ logout_token: idToken ?? '' })).status).toBe(400);
    expect(await logouts.stillIn(one)).toEqual([true]);
  });

  it('Attack: a replayed logout token is refused, also when it comes many times at once', async () => {
    const one = await logouts.visit();
    const token = await logouts.sign(logouts.claimsOf(one));
    const answers = await Promise.all(Array.from({ length: 10 }, () => logouts.send({ logout_token: token })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(400)]);
    // The session that the member has opened since then stays.
    const again = await logouts.visit(one);
    const change = { sid: again.session.sid, jti: logouts.claimsOf(one).jti };
    expect(await logouts.tell(logouts.claimsOf(again, change))).toBe(200);
    const late = await logouts.visit(one);
    expect(await logouts.tell(logouts.claimsOf(late, change))).toBe(400);
    expect(await logouts.stillIn(late)).toEqual([true]);
  });

  it('Attack: tokens with unknown keys do not let strangers have the provider asked at will', async () => {
    const one = await logouts.visit();
    await logouts.tell(logouts.claimsOf(one));
    const before = logouts.jwksReads();
    const foreign = await importPKCS8(logouts.providers.otherSigner().privateKey, 'RS256');
    for (let index = 0; index < 20; index += 1) {
      const token = await logouts.sign(logouts.claimsOf(one), { kid: `k${index}` }, foreign);
      expect((await logouts.send({ logout_token: token })).status).toBe(400);
    }
    expect(logouts.jwksReads() - before).toBeLessThanOrEqual(1);
  });

  it('Attack: a stranger who sends many invalid logout tokens gets 429, and a valid one is not counted', async () => {
    const own = await startFoyer(anyBackend, { ...logouts.providers.environment(), GUESS_LIMIT_ADDRESS: '3' });
    const post = async (token: string) => {
      const body = new URLSearchParams({ logout_token: token });
      return (await sendRequest(`${own.url}/federation/acme-oidc/logout`, { method: 'POST', body })).status;
    };
    const claims = () => ({
      ...logouts.providers.oidc.logoutClaims({ sid: 'x', person: logouts.providers.people.oidc.ada, logoutUrl: '' }),
    });
    for (let index = 0; index < 5; index += 1) expect(await post(await logouts.sign(claims()))).toBe(200);
    const statuses = [];
    for (let index = 0; index < 4; index += 1) statuses.push(await post('no.token'));
    expect(statuses).toEqual([400, 400, 400, 429]);
    await own.close();
  });
});
