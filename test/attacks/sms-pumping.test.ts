import { askForPhone, fresh, leadsTo, phoneCode, phoneTo, showPhoneCode } from '../account/contact/steps.ts';
import { read } from '../password/steps.ts';
import { memberWithSms, show, textedCode, toChallenge } from '../sign-in/factor-steps.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

/** An attacker earns money from text messages that the operator pays for. */
describe.each(backends)('attack: SMS pumping, on $name', (backend) => {
  const limits = { member: 4, number: 3, address: 12, overall: 30 };
  let foyer: TestFoyer;
  /** The number of messages before the test. */
  let before: number;
  beforeAll(async () => {
    foyer = await startFoyer(backend, {
      GUESS_LIMIT_ADDRESS: '1000',
      SMS_COUNTRIES: 'DE,GB',
      SMS_LIMIT_MEMBER: String(limits.member),
      SMS_LIMIT_NUMBER: String(limits.number),
      SMS_LIMIT_ADDRESS: String(limits.address),
      SMS_LIMIT_OVERALL: String(limits.overall),
    });
  });
  beforeEach(async () => {
    // Each test runs in an hour of its own.
    await foyer.deps.kv.delete('sms:address:127.0.0.1', 'sms:overall', 'sms:overall:new');
    before = await allSent();
  });
  afterAll(() => foyer?.close());

  const somebody = async () => foyer.signedIn(await foyer.addUser());
  async function many(count: number): Promise<Browser[]> {
    const browsers = [];
    for (let n = 0; n < count; n += 1) browsers.push(await somebody());
    return browsers;
  }
  /** The text messages since the start of the test. */
  const sent = async () => (await allSent()) - before;
  async function allSent(): Promise<number> {
    await foyer.deps.outboxWorker.turn();
    const rows = foyer.deps.database.db.selectFrom('outbox').select('id').where('channel', '=', 'sms');
    return (await rows.execute()).length;
  }
  const statusOf = async (browser: Browser, phone: string) => (await askForPhone(browser, phone)).status;

  it.each([
    ['+18765550123', 'Jamaica, under the same +1 as the United States'],
    ['+12015550123', 'a country that is not served'],
    ['+447624123456', 'the Isle of Man, under the same +44 as the United Kingdom'],
    ['+491805123456', 'a number of shared cost in a country that is served'],
    ['+4990012345678', 'a number at a premium in a country that is served'],
    ['+88213012345', 'a satellite phone'],
  ])('No text message is sent to %s: %s', async (phone) => {
    const answer = await askForPhone(await somebody(), phone);
    expect(answer.status).toBe(400);
    expect(await read(answer)).toMatch(/We can’t send text messages to this number|That number doesn’t look right/);
    expect(await sent()).toBe(0);
  });

  it('A user who requests codes for many numbers gets only the share of a day', async () => {
    const browser = await somebody();
    const statuses = [];
    for (let n = 0; n < 8; n += 1) statuses.push(await statusOf(browser, fresh().phone));
    expect(statuses).toEqual([...Array(limits.member).fill(303), ...Array(4).fill(429)]);
    expect(await sent()).toBe(limits.member);
    const refused = await askForPhone(browser, fresh().phone);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_600);
    expect(await read(refused)).toContain('No code was sent');
  });

  it('One number that many users request codes for gets only its share of a day', async () => {
    const { phone } = fresh();
    const browsers = await many(6);
    const statuses = await Promise.all(browsers.map((browser) => statusOf(browser, phone)));
    expect(statuses.filter((status) => status === 303)).toHaveLength(limits.number);
    expect(await sent()).toBe(limits.number);
  });

  it('Many users and numbers at the same moment from one network get only its share of an hour', async () => {
    const browsers = await many(10);
    const asks = browsers.flatMap((browser) => Array.from({ length: 3 }, () => statusOf(browser, fresh().phone)));
    const statuses = await Promise.all(asks);
    expect(statuses.filter((status) => status === 303)).toHaveLength(limits.address);
    expect(await sent()).toBe(limits.address);
  });

  it('A resend has to wait and counts like a first request', async () => {
    const { phone } = fresh();
    const browser = await somebody();
    await askForPhone(browser, phone);
    for (let n = 0; n < 5; n += 1) {
      const answer = await browser.post('/settings/phone/code', { act: 'resend' });
      expect(answer.status).toBe(429);
    }
    expect(await sent()).toBe(1);
    expect(leadsTo(await showPhoneCode(browser, await phoneCode(foyer, phone)))).toBe('303 /settings#settings:phone');
  });

  it('The JSON calls for SMS codes count in the same limits', async () => {
    const browser = await somebody();
    const statuses = [];
    for (let n = 0; n < limits.member; n += 1) statuses.push(await statusOf(browser, fresh().phone));
    const call = (phone: string) => browser.postJson('/identity/changePhone', { phone_number: phone });
    expect((await call(fresh().phone)).status).toBe(429);
    expect((await call('+18765550123')).status).toBe(400);
    expect(await sent()).toBe(limits.member);
  });

  it('Strangers who use up the limit for new numbers do not keep a user from signing in', async () => {
    const { phone } = fresh();
    const member = await somebody();
    await phoneTo(foyer, member, phone);
    const { kv } = foyer.deps;
    for (let n = 0; n < limits.overall; n += 1) {
      await kv.delete('sms:address:127.0.0.1');
      await statusOf(await somebody(), fresh().phone);
    }
    // This is half of the limit of an hour.
    expect(await sent()).toBe(limits.overall / 2);
    await kv.delete('sms:address:127.0.0.1');
    // This code would make the number a second factor.
    expect(leadsTo(await member.post('/settings/mfa/sms'))).toBe('303 /settings/mfa/sms/code');
    expect(await sent()).toBe(limits.overall / 2 + 1);
  });

  it('Strangers who request codes to a user’s number do not use up the codes for the user’s sign-in', async () => {
    const { user, phone } = await memberWithSms(foyer);
    for (const stranger of await many(limits.number + 1)) await askForPhone(stranger, phone);
    expect(await foyer.texts(phone)).toHaveLength(limits.number);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    expect(await foyer.texts(phone)).toHaveLength(limits.number + 1);
    expect((await show(browser, await textedCode(foyer, phone))).status).toBe(303);
  });

  it('An attacker with the password uses up the codes of a day, and the user’s own browser still gets one', async () => {
    const { user, phone } = await memberWithSms(foyer);
    const own = foyer.browser();
    await toChallenge(own, user);
    await show(own, await textedCode(foyer, phone));
    await own.post('/logout');
    for (let n = 0; n < limits.member + 1; n += 1) await toChallenge(foyer.browser(), user);
    const before = (await foyer.texts(phone)).length;
    expect(before).toBeLessThanOrEqual(limits.member);
    await toChallenge(own, user);
    expect(await foyer.texts(phone)).toHaveLength(before + 1);
    expect((await show(own, await textedCode(foyer, phone))).status).toBe(303);
  });
});
