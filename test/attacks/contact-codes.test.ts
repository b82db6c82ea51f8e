import {
  askForEmail,
  askForPhone,
  begunPhone,
  emailCode,
  fresh,
  leadsTo,
  otherThan,
  phoneCode,
  rowOf,
  showEmailCode,
  showPhoneCode,
} from '../account/contact/steps.ts';
import { read } from '../password/steps.ts';
import { backends } from '../support/stores.ts';
import { setUpContactChanges } from './contact-steps.ts';

describe.each(backends)('attack: another user’s address or number, on $name', (backend) => {
  const context = setUpContactChanges(backend);
  const { somebody } = context;

  it('A code of another flow, another purpose or another user changes nothing', async () => {
    const [ada, eve] = [await somebody(), await somebody()];
    const [adas, eves] = [fresh(), fresh()];
    await askForEmail(ada.browser, adas.email);
    await askForEmail(eve.browser, eves.email);
    await askForPhone(ada.browser, adas.phone);
    const codes = {
      email: await emailCode(context.foyer, adas.email),
      phone: await phoneCode(context.foyer, adas.phone),
    };
    // The flow of another user.
    expect(await read(await showEmailCode(eve.browser, codes.email))).toContain('Invalid code');
    // The code of the number does not prove the address, and the code of the address does not prove the number.
    expect(await read(await showEmailCode(ada.browser, codes.phone))).toContain('Invalid code');
    expect(await read(await showPhoneCode(ada.browser, codes.email))).toContain('Invalid code');
    // Another user's session cannot use the flow, even with its cookie.
    const cookies = await ada.browser.cookies();
    await eve.browser.jar.setCookie(`foyer_new_email=${cookies.foyer_new_email}`, context.foyer.url);
    expect(leadsTo(await showEmailCode(eve.browser, codes.email))).toBe('303 /settings/email#email:expired');
    // A flow for a number does not count as a flow for an address.
    await ada.browser.jar.setCookie(`foyer_new_email=${cookies.foyer_new_phone}`, context.foyer.url);
    expect(leadsTo(await showEmailCode(ada.browser, codes.phone))).toBe('303 /settings/email#email:expired');
    for (const { user } of [ada, eve])
      expect(await rowOf(context.foyer, user)).toMatchObject({ email: user.email, phone: null });
  });

  it('An attacker who sends 50 codes at once gets five guesses, and the right code fails afterwards', async () => {
    const mallory = await somebody();
    const { email } = fresh();
    await askForEmail(mallory.browser, email);
    const code = await emailCode(context.foyer, email);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => showEmailCode(mallory.browser, otherThan(code, n + 1))),
    );
    expect(answers.filter(({ status }) => status === 303)).toEqual([]);
    const texts = await Promise.all(answers.map(read));
    expect(texts.filter((text) => text.includes('Invalid code'))).toHaveLength(4);
    // A user has 25 guesses an hour for all codes together.
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(25);
    expect((await showEmailCode(mallory.browser, code)).status).not.toBe(303);
  });

  it('A cross-site page and a stale session change no address or number by the JSON API', async () => {
    const { user, browser } = await somebody();
    const { email, phone } = fresh();
    const bodies = {
      '/identity/changeEmail': { email },
      '/identity/changePhone': { phone_number: phone },
      '/identity/verifyUserAttribute': { attribute: 'phone_number', ...(await begunPhone(context.foyer, user.id)) },
    };
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    for (const [path, body] of Object.entries(bodies)) {
      expect([path, (await browser.postJson(path, body, foreign)).status]).toEqual([path, 403]);
    }
    context.foyer.passTime(11 * 60_000);
    for (const [path, body] of Object.entries(bodies)) {
      const answer = await browser.postJson(path, body);
      expect([path, answer.status]).toEqual([path, 401]);
      expect(answer.headers.get('www-authenticate')).toContain('insufficient_user_authentication');
    }
    expect(await rowOf(context.foyer, user)).toMatchObject({ email: user.email, phone: null });
    expect(await context.foyer.mails(email)).toEqual([]);
  });

  it('A user can request five codes an hour and a network twenty, so that no mailbox is flooded', async () => {
    const mallory = await somebody();
    const statuses = [];
    for (let n = 0; n < 7; n += 1) statuses.push((await askForEmail(mallory.browser, fresh().email)).status);
    expect(statuses).toEqual([303, 303, 303, 303, 303, 429, 429]);
    const others = [];
    for (let member = 0; member < 4; member += 1) {
      const { browser } = await somebody();
      for (let n = 0; n < 4; n += 1) others.push((await askForEmail(browser, fresh().email)).status);
    }
    expect(others.filter((status) => status === 303)).toHaveLength(15);
  });
});
