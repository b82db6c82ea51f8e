import { createPublicKey } from 'node:crypto';
import { importPKCS8, type JWTPayload, UnsecuredJWT } from 'jose';
import { type OidcLogouts, startOidcLogouts } from '../federation/oidc-logout-steps.ts';
import { startFoyer } from '../support/foyer.ts';
import { federationLog } from '../support/saml.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

/** Logout tokens that an identity provider has not sent, or not for this. */
describe('attacks with logout tokens of an OpenID provider', () => {
  let room: OidcLogouts;
  beforeAll(async () => {
    room = await startOidcLogouts();
  });
  afterAll(() => room?.close());

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
    const one = await room.visit();
    const answer = await room.send({ logout_token: await room.sign(room.claimsOf(one, change)) });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([400, 'no-store']);
    expect(await answer.json()).toEqual({ error: 'invalid_request', error_description: `logout token: ${detail}` });
    expect(federationLog(room.foyer).at(-1)).toMatchObject({
      outcome: 'logout-refused',
      detail: `logout token: ${detail}`,
    });
    expect(await room.stillIn(one)).toEqual([true]);
  });

  const publicPem = () =>
    createPublicKey(room.providers.samlSigner.certificate).export({ type: 'spki', format: 'pem' });
  const bytes = (text: string) => new TextEncoder().encode(text);
  const forgeries: [string, (claims: JWTPayload) => Promise<string> | string, string][] = [
    ['unsigned (alg none)', (claims) => new UnsecuredJWT(claims).encode(), 'the algorithm is not asymmetric'],
    [
      'signed with HS256 and the public key as its secret',
      (claims) => room.sign(claims, { alg: 'HS256' }, bytes(publicPem().toString())),
      'the algorithm is not asymmetric',
    ],
    [
      'signed with HS256 and the client secret',
      (claims) => room.sign(claims, { alg: 'HS256' }, bytes('secret-of-acme')),
      'the algorithm is not asymmetric',
    ],
    [
      'signed with the key of another, under the name of the provider’s key',
      async (claims) => room.sign(claims, {}, await importPKCS8(room.providers.otherSigner().privateKey, 'RS256')),
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    ],
    [
      'signed with an algorithm that the provider does not name',
      async (claims) =>
        room.sign(claims, { alg: 'PS256' }, await importPKCS8(room.providers.samlSigner.privateKey, 'PS256')),
      'ERR_JOSE_ALG_NOT_ALLOWED',
    ],
    [
      'whose claims were changed after signing',
      async (claims) => {
        const [header, , signature] = (await room.sign({ ...claims, sid: 'mine' })).split('.');
        return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
      },
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    ],
    ['that is an access token by its type', (claims) => room.sign(claims, { typ: 'at+jwt' }), 'of another type'],
    ['that is no token', () => 'no.token', 'not readable'],
    ['that is empty', () => '', 'absent'],
    ['of ten thousand characters', () => 'a'.repeat(10_000), 'too long'],
  ];
  it.each(forgeries)('Attack: a logout token %s is refused', async (_what, forge, detail) => {
    const one = await room.visit();
    const answer = await room.send({ logout_token: await forge(room.claimsOf(one)) });
    expect([answer.status, (await answer.json()) as unknown]).toEqual([
      400,
      { error: 'invalid_request', error_description: `logout token: ${detail}` },
    ]);
    expect(await room.stillIn(one)).toEqual([true]);
  });

  it('Attack: the id token of a sign-in is no logout token', async () => {
    const one = await room.visit();
    const idToken = /"id_token":"([^"]+)"/.exec(
      room.providers.exchanges.findLast(({ path }) => path === '/acme-oidc/token')?.answer ?? '',
    )?.[1];
    expect((await room.send({ logout_token: idToken ?? '' })).status).toBe(400);
    expect(await room.stillIn(one)).toEqual([true]);
  });

  it('Attack: a replayed logout token is refused, also when it comes many times at once', async () => {
    const one = await room.visit();
    const token = await room.sign(room.claimsOf(one));
    const answers = await Promise.all(Array.from({ length: 10 }, () => room.send({ logout_token: token })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(400)]);
    // The session that the member has opened since then stays.
    const again = await room.visit(one);
    const change = { sid: again.session.sid, jti: room.claimsOf(one).jti };
    expect(await room.tell(room.claimsOf(again, change))).toBe(200);
    const late = await room.visit(one);
    expect(await room.tell(room.claimsOf(late, change))).toBe(400);
    expect(await room.stillIn(late)).toEqual([true]);
  });

  it('Attack: tokens with unknown keys do not let strangers have the provider asked at will', async () => {
    const one = await room.visit();
    await room.tell(room.claimsOf(one));
    const before = room.jwksReads();
    const foreign = await importPKCS8(room.providers.otherSigner().privateKey, 'RS256');
    for (let index = 0; index < 20; index += 1) {
      const token = await room.sign(room.claimsOf(one), { kid: `k${index}` }, foreign);
      expect((await room.send({ logout_token: token })).status).toBe(400);
    }
    expect(room.jwksReads() - before).toBeLessThanOrEqual(1);
  });

  it('Attack: a stranger who sends many invalid logout tokens gets 429, and a valid one is not counted', async () => {
    const own = await startFoyer(anyBackend, { ...room.providers.environment(), GUESS_LIMIT_ADDRESS: '3' });
    const post = async (token: string) => {
      const body = new URLSearchParams({ logout_token: token });
      return (await sendRequest(`${own.url}/federation/acme-oidc/logout`, { method: 'POST', body })).status;
    };
    const claims = () => ({
      ...room.providers.oidc.logoutClaims({ sid: 'x', person: room.providers.people.oidc.ada, logoutUrl: '' }),
    });
    for (let index = 0; index < 5; index += 1) expect(await post(await room.sign(claims()))).toBe(200);
    const statuses = [];
    for (let index = 0; index < 4; index += 1) statuses.push(await post('no.token'));
    expect(statuses).toEqual([400, 400, 400, 429]);
    await own.close();
  });
});
