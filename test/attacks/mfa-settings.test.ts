import type { User } from '../../server/users/index.ts';
import { activate, appCode, begin, enrol, leadsTo, shownCodes } from '../account/mfa-steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

const minuteMs = 60_000;

describe.each(backends)('the settings of the second factor under attack, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
  });
  afterAll(() => foyer?.close());

  const member = async () => {
    const user = await foyer.addUser();
    return { user, browser: await foyer.signedIn(user) };
  };
  const stateOf = async ({ id }: User) => {
    const { db } = foyer.deps.database;
    const { mfaPreference: preference } = await db
      .selectFrom('users')
      .select('mfaPreference')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const apps = await db.selectFrom('totpAuthenticators').selectAll().where('userId', '=', id).execute();
    const codes = await db.selectFrom('recoveryCodes').selectAll().where('userId', '=', id).execute();
    return { preference, apps, codes };
  };
  /** The action in a browser that has this cookie of another browser. */
  const lend = async (name: string, from: Browser, to: Browser) => {
    const value = (await from.cookies())[name];
    if (value === undefined) throw new Error(`there is no cookie ${name}`);
    await to.jar.setCookie(`${name}=${value}; Path=/`, foyer.url);
  };

  it.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a sibling subdomain', { origin: 'https://shop.localhost', 'sec-fetch-site': 'same-site' }],
  ])('A form from %s does not turn the second factor off (CSRF)', async (_who, headers) => {
    const { user, browser } = await member();
    await enrol(foyer, browser);
    const before = await stateOf(user);
    for (const [path, fields] of [
      ['/settings/mfa', { method: 'none' }],
      ['/settings/mfa/totp', {}],
      ['/settings/recovery-codes', {}],
    ] as const) {
      expect([path, (await browser.post(path, fields, headers)).status]).toEqual([path, 403]);
    }
    const json = await browser.postJson('/identity/preferredMFA', { preferredMFA: 'NOMFA' }, headers);
    expect(json.status).toBe(403);
    expect(await stateOf(user)).toEqual(before);
  });

  it('A link does not turn the second factor off, because reading a page changes nothing', async () => {
    const { user, browser } = await member();
    await enrol(foyer, browser);
    const before = await stateOf(user);
    for (const path of ['/settings/mfa', '/settings/recovery-codes', '/settings/mfa/totp/activate', '/settings']) {
      await browser.get(`${path}?method=none&enabled=0&code=123456&act=none`);
    }
    expect(await stateOf(user)).toEqual(before);
  });

  it('A stale session does not turn the second factor off: every page and call asks for re-authentication', async () => {
    const { user, browser } = await member();
    await enrol(foyer, browser);
    await begin(browser);
    const before = await stateOf(user);
    foyer.passTime(11 * minuteMs);
    const paths = ['/settings/mfa', '/settings/mfa/totp', '/settings/mfa/totp/activate', '/settings/recovery-codes'];
    for (const path of paths) {
      const asked = `303 /re-authenticate?redirect=${encodeURIComponent(path)}`;
      expect(leadsTo(await browser.get(path))).toBe(asked);
      expect(leadsTo(await browser.post(path, { method: 'none', code: '123456' }))).toBe(asked);
    }
    expect(leadsTo(await browser.get('/settings/mfa/totp/scan'))).toMatch(/^303 \/re-authenticate/);
    for (const [path, body] of [
      ['preferredMFA', { preferredMFA: 'NOMFA' }],
      ['setupTOTP', {}],
      ['verifyTOTPToken', { flow: 'x', code: '123456' }],
    ] as const) {
      const answer = await browser.postJson(`/identity/${path}`, body);
      expect([path, answer.status]).toEqual([path, 401]);
      expect(answer.headers.get('www-authenticate')).toContain('insufficient_user_authentication');
    }
    expect(await stateOf(user)).toEqual(before);
  });

  it('A started set-up can be activated neither by another user nor in another browser of the same user', async () => {
    const [mallory, victim] = [await member(), await member()];
    const secret = await begin(mallory.browser);
    const code = await appCode(secret, foyer.deps.now());
    // The cookie is planted, so that the victim would activate the attacker's secret.
    await lend('foyer_totp_setup', mallory.browser, victim.browser);
    expect(leadsTo(await victim.browser.get('/settings/mfa/totp/scan'))).toBe('303 /settings/mfa/totp');
    expect((await activate(victim.browser, code)).status).toBe(400);
    const elsewhere = await foyer.signedIn(mallory.user);
    expect((await activate(elsewhere, code)).status).toBe(400);
    const states = [await stateOf(victim.user), await stateOf(mallory.user)];
    expect(states.map(({ preference, apps }) => [preference, apps.length])).toEqual([
      ['none', 0],
      ['none', 0],
    ]);
    // The code was right: it works in its own browser.
    expect((await activate(mallory.browser, code)).status).toBe(303);
  });

  it('A set-up that was left open ends after a quarter of an hour and with another password', async () => {
    const { user, browser } = await member();
    const secret = await begin(browser);
    foyer.passTime(16 * minuteMs);
    const again = async () => {
      const answer = await browser.post('/sign-in', { username: user.email, password });
      expect(answer.status).toBe(303);
    };
    await again();
    expect((await activate(browser, await appCode(secret, foyer.deps.now()))).status).toBe(400);
    const second = await begin(browser);
    const { db } = foyer.deps.database;
    await db
      .updateTable('users')
      .set(({ eb }) => ({ passwordEpoch: eb('passwordEpoch', '+', 1) }))
      .where('id', '=', user.id)
      .execute();
    await again();
    expect((await activate(browser, await appCode(second, foyer.deps.now()))).status).toBe(400);
    expect((await stateOf(user)).preference).toBe('none');
  });

  it('A set-up that is interrupted by a re-authentication continues in the same browser', async () => {
    const { user, browser } = await member();
    const secret = await begin(browser);
    foyer.passTime(11 * minuteMs);
    const late = await activate(browser, await appCode(secret, foyer.deps.now()));
    expect(leadsTo(late)).toBe(`303 /re-authenticate?redirect=${encodeURIComponent('/settings/mfa/totp/activate')}`);
    const shown = await browser.post('/re-authenticate?redirect=/settings/mfa/totp/activate', { password });
    expect(shown.status).toBe(303);
    expect((await browser.get('/settings/mfa/totp/activate')).status).toBe(200);
    expect((await activate(browser, await appCode(secret, foyer.deps.now()))).status).toBe(303);
    expect((await stateOf(user)).preference).toBe('totp');
  });

  it('The code that activated the app is refused for a sign-in and for a second set-up (replay)', async () => {
    const { user, browser } = await member();
    const secret = await begin(browser);
    const code = await appCode(secret, foyer.deps.now());
    expect((await activate(browser, code)).status).toBe(303);
    expect((await activate(browser, code)).status).toBe(400);
    const thief = foyer.browser();
    const half = await thief.post('/sign-in', { username: user.email, password });
    expect(leadsTo(half)).toBe('303 /second-factor');
    expect((await thief.post('/second-factor', { method: 'totp', code })).status).toBe(400);
    expect((await thief.get('/settings')).status).toBe(303);
    foyer.passTime(minuteMs);
    const next = await appCode(secret, foyer.deps.now());
    expect((await thief.post('/second-factor', { method: 'totp', code: next })).status).toBe(303);
    expect((await thief.get('/settings')).status).toBe(200);
  });

  it('An app that is activated 20 times at once is activated once, with one set of codes and one mail', async () => {
    const { user, browser } = await member();
    const secret = await begin(browser);
    const code = await appCode(secret, foyer.deps.now());
    const press = () => browser.submit('/settings/mfa/totp/activate', { code });
    const answers = await Promise.all(Array.from({ length: 20 }, press));
    const ways = answers.map(leadsTo);
    expect(ways.filter((way) => way === '303 /settings/recovery-codes')).toHaveLength(1);
    // The winner's session gets a new id and counts as one with both factors.
    const refused = /^303 (\/settings\/mfa\/totp(\/activate)?$|(\/re-authenticate|\/)\?redirect=)/;
    expect(ways.filter((way) => refused.test(way))).toHaveLength(19);
    const { preference, apps, codes } = await stateOf(user);
    expect([preference, apps.length, codes.length]).toEqual(['totp', 1, 10]);
    const mails = (await foyer.mails(user.email)).filter(({ template }) => template === 'security-notice');
    expect(mails).toHaveLength(1);
    expect(await shownCodes(browser)).toHaveLength(10);
  });

  it('A session that floods the mailbox with changes is stopped by its limit for an hour', async () => {
    const { user, browser } = await member();
    const secret = await enrol(foyer, browser);
    const statuses = [];
    for (let n = 0; n < 100; n += 1) statuses.push((await browser.post('/settings/recovery-codes')).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([303, 429]);
    const notices = (await foyer.mails(user.email)).filter(({ template }) => template === 'security-notice');
    // One of these mails is about turning the second factor on.
    expect(notices.length).toBeLessThanOrEqual(41);
    // The flood does not hinder the user in another browser.
    foyer.passTime(minuteMs);
    const own = foyer.browser();
    await own.post('/sign-in', { username: user.email, password });
    await own.post('/second-factor', { code: await appCode(secret, foyer.deps.now()) });
    expect(leadsTo(await own.post('/settings/mfa', { method: 'none' }))).toBe(
      '303 /settings?tab=mfa-data#settings:mfa-off',
    );
  });

  it('Ten sets of recovery codes made at once leave ten valid codes, which another session never sees', async () => {
    const { user, browser } = await member();
    await enrol(foyer, browser);
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.post('/settings/recovery-codes')));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 303));
    expect((await stateOf(user)).codes).toHaveLength(10);
    const other = await member();
    expect(await shownCodes(other.browser)).toEqual([]);
    const shown = await Promise.all(Array.from({ length: 5 }, () => shownCodes(browser)));
    expect(shown.filter(({ length }) => length > 0)).toHaveLength(1);
  });
});
