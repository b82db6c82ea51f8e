import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { appCode } from '../account/mfa-steps.ts';
import { signInWithTotp, stepMs } from '../sign-in/factor-steps.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

interface Answer {
  status: number;
  challenge: string | null;
  body: {
    preferredMFA?: string;
    secretCode?: string;
    uri?: string;
    flow?: string;
    expiresInSeconds?: number;
    status?: string | number;
    recoveryCodes?: string[];
    detail?: string;
  };
}

describe.each(backends)('the JSON calls for second factors on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
  });
  afterAll(() => foyer?.close());

  const read = async (answer: Response): Promise<Answer> => ({
    status: answer.status,
    challenge: answer.headers.get('www-authenticate'),
    body: (await answer.json()) as Answer['body'],
  });
  /** Calls like a page of Foyer. */
  const bySession = (browser: Browser) => async (name: string, body: object) =>
    read(await browser.postJson(`/identity/${name}`, body));
  /** Calls like a client app for its user. */
  const byToken = (token: string) => async (name: string, body: object) =>
    read(
      await sendRequest(`${foyer.url}/identity/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      }),
    );
  const preferred = async (browser: Browser) =>
    (await read(await browser.get('/identity/preferredMFA', { from: 'same-origin' }))).body.preferredMFA;

  async function member(over: Partial<Parameters<TestFoyer['addUser']>[0]> = {}) {
    const user = await foyer.addUser(over);
    const browser = await foyer.signedIn(user);
    return { user, browser, call: bySession(browser) };
  }
  async function app(user: User) {
    const scope = 'openid account account:security offline_access';
    const client = await relyingParty(foyer, await foyer.addClient({ scopes: scope.split(' ') }), scope);
    return { client, tokens: await tokensFor(client, foyer.browser(), user) };
  }

  it('An authenticator app is set up and activated and is then preferred until the user turns it off', async () => {
    const { browser, call, user } = await member();
    expect(await preferred(browser)).toBe('NOMFA');
    const none = await call('preferredMFA', { preferredMFA: 'SOFTWARE_TOKEN_MFA' });
    expect([none.status, none.body.detail]).toEqual([409, 'No authenticator app has been activated.']);
    const { body: setup } = await call('setupTOTP', {});
    expect(setup).toEqual({
      secretCode: expect.stringMatching(/^[A-Z2-7]{32}$/),
      uri: expect.stringContaining(encodeURIComponent(user.email)),
      flow: expect.stringMatching(/^[\w-]{43}$/),
      expiresInSeconds: 900,
    });
    const { secretCode = '', flow } = setup;
    const late = await appCode(secretCode, foyer.deps.now() - 120_000);
    for (const code of [late, '12', 'abcdef']) {
      const wrong = await call('verifyTOTPToken', { flow, code });
      expect([wrong.status, wrong.body.detail]).toEqual([400, 'Invalid code']);
    }
    expect(await preferred(browser)).toBe('NOMFA');
    const code = await appCode(secretCode, foyer.deps.now());
    const done = await call('verifyTOTPToken', { flow, code });
    expect([done.status, done.body.status, done.body.recoveryCodes?.length]).toEqual([200, 'SUCCESS', 10]);
    expect(await preferred(browser)).toBe('SOFTWARE_TOKEN_MFA');
    // From now on a change needs a sign-in with the second factor.
    expect((await call('preferredMFA', { preferredMFA: 'NOMFA' })).status).toBe(401);
    foyer.passTime(stepMs);
    await signInWithTotp(foyer, browser, user, secretCode);
    expect((await call('verifyTOTPToken', { flow, code })).status).toBe(400);
    expect((await call('preferredMFA', { preferredMFA: 'SOFTWARE_TOKEN_MFA' })).body).toEqual({ status: 'SUCCESS' });
    expect((await call('preferredMFA', { preferredMFA: 'NOMFA' })).body).toEqual({ status: 'SUCCESS' });
    expect(await preferred(browser)).toBe('NOMFA');
  });

  it('Codes by SMS need a verified number', async () => {
    const without = await member({ phone: '+31612349001', phoneVerified: false });
    const refused = await without.call('preferredMFA', { preferredMFA: 'SMS_MFA' });
    expect([refused.status, refused.body.detail]).toEqual([409, 'SMS needs a verified phone number.']);
    const { call, browser } = await member({ phone: '+31612349002', phoneVerified: true });
    expect((await call('preferredMFA', { preferredMFA: 'SMS' })).status).toBe(400);
    expect((await call('preferredMFA', { preferredMFA: 'SMS_MFA' })).body.recoveryCodes).toHaveLength(10);
    expect(await preferred(browser)).toBe('SMS_MFA');
  });

  it('Attack: the set-up of another user is refused', async () => {
    const [mallory, victim] = [await member(), await member()];
    const { body } = await mallory.call('setupTOTP', {});
    const code = await appCode(body.secretCode ?? '', foyer.deps.now());
    expect((await victim.call('verifyTOTPToken', { flow: body.flow, code })).status).toBe(400);
    expect(await preferred(victim.browser)).toBe('NOMFA');
  });

  it('A client’s token is as old as its sign-in, also after a refresh', async () => {
    const { user, browser } = await member();
    const { client, tokens } = await app(user);
    const call = byToken(tokens.access_token);
    expect((await call('preferredMFA', { preferredMFA: 'NOMFA' })).status).toBe(200);
    expect((await call('setupTOTP', {})).status).toBe(200);
    foyer.passTime(11 * 60_000);
    const fresh = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
    for (const token of [tokens.access_token, fresh.access_token]) {
      const refused = await byToken(token)('setupTOTP', {});
      expect(refused.status).toBe(401);
      expect(refused.challenge).toMatch(/^Bearer realm="api", error="insufficient_user_authentication".*max_age=600$/);
    }
    // A call that changes nothing is always allowed.
    expect(await preferred(browser)).toBe('NOMFA');
  });
});
