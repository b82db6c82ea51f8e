import { setMfaPreference, type User } from '../../../server/users/index.ts';
import { read } from '../../password/steps.ts';
import { giveTotp, signInWithTotp } from '../../sign-in/factor-steps.ts';
import type { Browser } from '../../support/browser.ts';
import { eachSignedInUser, password, startFoyer, type TestFoyer } from '../../support/foyer.ts';
import { toSha256 } from '../../support/ids.ts';
import { anyBackend, backends } from '../../support/stores.ts';
import {
  askForPhone,
  fresh,
  leadsTo,
  otherThan,
  phoneCode,
  phoneTo,
  rowOf,
  showPhoneCode,
  signIn,
  templatesTo,
} from './steps.ts';

/** An emptied field, and the button beside it. */
const removals: Record<string, string>[] = [{ phone_number: '' }, { act: 'remove' }];
const specified = 'Invalid phone number. A phone number can only contain the + sign and digits';

describe.each(backends)('changing the phone number, on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  eachSignedInUser(backend, { GUESS_LIMIT_ADDRESS: '1000', SMS_LIMIT_ADDRESS: '1000' }, (setting) => {
    ({ foyer, user, browser } = setting);
  });

  it('A code by text message makes the number the user’s and allows sign-in with it', async () => {
    const { phone } = fresh();
    const typed = `${phone.slice(0, 3)} (${phone.slice(3, 6)}) ${phone.slice(6, 9)}-${phone.slice(9)}`;
    expect(leadsTo(await askForPhone(browser, typed))).toBe('303 /settings/phone/code');
    expect((await rowOf(foyer, user)).phone).toBeNull();
    const [text] = await foyer.texts(phone);
    expect(text).toMatch(/^\d{6} is your security code for Foyer\.[\s\S]*@localhost #\d{6}$/);
    // In full: a mistyped one is seen here.
    const page = await read(await browser.get('/settings/phone/code'));
    expect(page.replaceAll(' ', '')).toContain(`acodeto${phone}.`);
    const code = await phoneCode(foyer, phone);
    expect(await read(await showPhoneCode(browser, otherThan(code)))).toContain('Invalid code');
    expect(leadsTo(await showPhoneCode(browser, code))).toBe('303 /settings#settings:phone');
    expect(await rowOf(foyer, user)).toMatchObject({ phone, phoneVerified: 1 });
    expect((await signIn(foyer.browser(), phone, password)).status).toBe(303);
    expect(await templatesTo(foyer, user.email)).toContain('security-notice phone');
  });

  it('The form sent twice within 30 seconds sends one text message, and the code stays valid', async () => {
    const { phone } = fresh();
    for (const typed of [phone, ` ${phone.slice(0, 5)} ${phone.slice(5)}`]) {
      expect(leadsTo(await askForPhone(browser, typed))).toBe('303 /settings/phone/code');
    }
    expect(await foyer.texts(phone)).toHaveLength(1);
    expect(leadsTo(await askForPhone(browser, fresh().phone))).toBe('303 /settings/phone/code');
    foyer.passTime(31_000);
    expect(leadsTo(await askForPhone(browser, phone))).toBe('303 /settings/phone/code');
    expect(await foyer.texts(phone)).toHaveLength(2);
    expect(leadsTo(await showPhoneCode(browser, await phoneCode(foyer, phone)))).toBe('303 /settings#settings:phone');
  });

  it('Attack: forms that are sent at once send one text message, and all lead to its code', async () => {
    const { phone } = fresh();
    const answers = await Promise.all(Array.from({ length: 5 }, () => askForPhone(browser, phone)));
    expect(answers.map(leadsTo)).toEqual(Array.from({ length: 5 }, () => '303 /settings/phone/code'));
    const flows = answers.flatMap(({ headers }) =>
      headers.getSetCookie().flatMap((line) => /foyer_new_phone=([^;]+)/.exec(line)?.[1] ?? []),
    );
    expect([flows.length, new Set(flows).size]).toEqual([5, 1]);
    expect(await foyer.texts(phone)).toHaveLength(1);
    expect(leadsTo(await showPhoneCode(browser, await phoneCode(foyer, phone)))).toBe('303 /settings#settings:phone');
  });

  it('Another browser of the user, and another number, are not held', async () => {
    const [first, second] = [fresh().phone, fresh().phone];
    const other = await foyer.signedIn(user);
    await Promise.all([askForPhone(browser, first), askForPhone(other, first), askForPhone(browser, second)]);
    expect([await foyer.texts(first), await foyer.texts(second)].map(({ length }) => length)).toEqual([2, 1]);
  });

  it.each([
    ['0151 12345678', 'The country code is missing, for example +49.'],
    ['(0151) 123', 'The country code is missing, for example +49.'],
    ['+49 abc', specified],
    ['+12', specified],
    ['+123', 'That number doesn’t look right.'],
    ['+4915112', 'That number doesn’t look right.'],
    ['+4930123456', 'We can’t send text messages to this number.'],
    ['+19005550123', 'We can’t send text messages to this number.'],
  ])('The number %s is refused with the reason and stays in the field', async (typed, text) => {
    const answer = await askForPhone(browser, typed);
    const html = await answer.text();
    expect(answer.status).toBe(400);
    expect(html).toContain(text);
    expect(html).toContain('Your data couldn’t be saved. Please check the marked field.');
    expect(html).toContain(`value="${typed}"`);
  });

  it('An empty field or the button removes the number, and an empty field without a number is refused', async () => {
    const empty = await askForPhone(browser, ' ');
    expect([empty.status, await empty.text()]).toEqual([400, expect.stringContaining('Cannot be empty')]);
    for (const fields of removals) {
      const { phone } = fresh();
      await phoneTo(foyer, browser, phone);
      expect(await (await browser.get('/settings/phone')).text()).toContain(`value="${phone}"`);
      expect(leadsTo(await browser.post('/settings/phone', fields))).toBe('303 /settings#settings:phone-removed');
      expect(await rowOf(foyer, user)).toMatchObject({ phone: null, phoneVerified: 0 });
    }
    const told = await templatesTo(foyer, user.email);
    expect(told.filter((one) => one === 'security-notice phone-removed')).toHaveLength(2);
  });

  it('A number that is the second factor cannot be removed but can be replaced', async () => {
    const { phone } = fresh();
    await phoneTo(foyer, browser, phone);
    await signInWithTotp(foyer, browser, user, await giveTotp(foyer, user));
    await foyer.deps.database.transaction((trx) =>
      setMfaPreference(trx, user.id, { preference: 'sms', nowMs: foyer.deps.now() }),
    );
    const page = await browser.get('/settings/phone');
    expect(await page.text()).not.toContain('value="remove"');
    for (const fields of removals) {
      const answer = await browser.post('/settings/phone', fields);
      expect([answer.status, await answer.text()]).toEqual([
        409,
        expect.stringContaining('You use this number for two-step verification.'),
      ]);
    }
    expect((await rowOf(foyer, user)).phone).toBe(phone);
    const another = fresh().phone;
    await phoneTo(foyer, browser, another);
    expect(await rowOf(foyer, user)).toMatchObject({ phone: another, mfaPreference: 'sms' });
  });

  it('A new number forgets the devices that skip the second factor', async () => {
    const { database, now } = foyer.deps;
    await signInWithTotp(foyer, browser, user, await giveTotp(foyer, user));
    const device = {
      id: `device-${user.id}`,
      userId: user.id,
      secretHash: toSha256('x'),
      passwordEpoch: 0,
      userAgent: '',
      ip: '',
      createdAt: now(),
      lastUsedAt: now(),
      expiresAt: now() + 1_000_000,
    };
    await database.db.insertInto('rememberedDevices').values(device).execute();
    await phoneTo(foyer, browser, fresh().phone);
    const left = await database.db.selectFrom('rememberedDevices').select('id').where('userId', '=', user.id).execute();
    expect(left).toEqual([]);
  });
});

describe('without text messages', () => {
  it('Without text messages no number can be added, and an existing number can be removed', async () => {
    const backend = anyBackend;
    const foyer = await startFoyer(backend, {}, { smsOffered: false });
    try {
      const { phone } = fresh();
      const user = await foyer.addUser({ phone, phoneVerified: true });
      const browser = await foyer.signedIn(user);
      const page = await (await browser.get('/settings/phone')).text();
      expect(page).toContain('Text messages aren’t available here.');
      expect(page).not.toContain('name="phone_number"');
      const answer = await askForPhone(browser, fresh().phone);
      expect(answer.status).toBe(400);
      expect(leadsTo(await browser.get('/settings/phone/code'))).toBe('303 /settings/phone');
      expect(leadsTo(await browser.post('/settings/phone', { act: 'remove' }))).toMatch(/phone-removed$/);
    } finally {
      await foyer.close();
    }
  });
});
