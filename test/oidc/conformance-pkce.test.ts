import { createHash, randomBytes } from 'node:crypto';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

/** Requirements of RFC 7636 in docs/conformance.md that no other test shows. */
describe.each([
  { kind: 'a public client app', registration: { public: true } },
  { kind: 'a confidential client app', registration: {} },
])('PKCE of $kind', ({ registration }) => {
  let foyer: TestFoyer;
  let browser: Browser;
  let client: Awaited<ReturnType<TestFoyer['addClient']>>;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    browser = await foyer.signedIn(await foyer.addUser());
    client = await foyer.addClient(registration);
  });
  afterAll(() => foyer?.close());

  async function ask(challenge: Record<string, string>): Promise<URLSearchParams> {
    const query = new URLSearchParams({
      client_id: client.id,
      redirect_uri: client.redirectUri,
      response_type: 'code',
      scope: 'openid',
      state: 's',
      ...challenge,
    });
    return new URL(locationOf(await browser.get(`/oauth2/authorize?${query}`, { from: 'cross-site' }))).searchParams;
  }
  const codeFor = async (verifier: string) =>
    (await ask({ code_challenge: challengeOf(verifier), code_challenge_method: 'S256' })).get('code') ?? '';
  async function redeem(code: string, verifier: Record<string, string>) {
    const headers: Record<string, string> =
      client.secret === null ? {} : { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` };
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirectUri,
      ...(client.secret === null && { client_id: client.id }),
      ...verifier,
    });
    const answer = await sendRequest(`${foyer.url}/oauth2/token`, { method: 'POST', headers, body });
    return { status: answer.status, error: ((await answer.json()) as { error?: string }).error };
  }
  const fresh = () => randomBytes(32).toString('base64url');

  it.each([
    ['43 characters', 'a'.repeat(43)],
    ['128 characters', 'Z'.repeat(128)],
    ['every allowed character', `-._~${'09azAZ'.repeat(7)}`],
  ])('A verifier of %s is accepted (section 4.1)', async (_what, verifier) => {
    expect(await redeem(await codeFor(verifier), { code_verifier: verifier })).toEqual({
      status: 200,
      error: undefined,
    });
  });

  it.each([
    ['42 characters', 'a'.repeat(42)],
    ['129 characters', 'a'.repeat(129)],
    ['44 characters, one of them not allowed', `${'a'.repeat(43)}!`],
  ])('A verifier of %s is refused although its challenge matches (section 4.1)', async (_what, verifier) => {
    expect((await redeem(await codeFor(verifier), { code_verifier: verifier })).status).toBe(400);
  });

  it('A code is refused with no verifier, another one, the challenge itself or the verifier of another code (section 4.6)', async () => {
    const [own, others] = [fresh(), fresh()];
    await codeFor(others);
    for (const wrong of [
      {},
      { code_verifier: fresh() },
      { code_verifier: challengeOf(own) },
      { code_verifier: others },
    ]) {
      const { status, error } = await redeem(await codeFor(own), wrong as Record<string, string>);
      expect(status).toBe(400);
      expect(error).toMatch(/^invalid_(grant|request)$/);
    }
  });

  it.each([
    ['no challenge', {}],
    ['a method without a challenge', { code_challenge_method: 'S256' }],
    // The default method is plain, which Foyer does not allow.
    ['a challenge without a method', { code_challenge: challengeOf('a'.repeat(43)) }],
    ['the method plain', { code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' }],
    ['an unknown method', { code_challenge: challengeOf('a'.repeat(43)), code_challenge_method: 'S512' }],
    ['the method in lower case', { code_challenge: challengeOf('a'.repeat(43)), code_challenge_method: 's256' }],
    ['a challenge that is too short', { code_challenge: 'abc', code_challenge_method: 'S256' }],
    [
      'a challenge with characters that are not allowed',
      { code_challenge: `${'a'.repeat(42)}+/=`, code_challenge_method: 'S256' },
    ],
  ])('A request with %s gets invalid_request at the client, with state (section 4.4.1)', async (_what, challenge) => {
    const answer = await ask(challenge as Record<string, string>);
    expect([answer.get('code'), answer.get('error'), answer.get('state')]).toEqual([null, 'invalid_request', 's']);
  });
});
