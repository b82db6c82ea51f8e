import { fresh, phoneTo } from '../account/contact/steps.ts';
import {
  appCode,
  giveRecoveryCodes,
  isSignedIn,
  memberWithSms,
  memberWithTotp,
  show,
  textedCode,
  toChallenge,
} from '../sign-in/factor-steps.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('attacks on the second factor on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('Five recovery codes sent at once for one challenge use up one code and start one session', async () => {
    const { user } = await memberWithTotp(foyer);
    const codes = await giveRecoveryCodes(foyer, user);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await Promise.all(codes.slice(0, 5).map((code) => show(browser, code, { method: 'recovery' })));
    const used = await foyer.deps.database.db
      .selectFrom('recoveryCodes')
      .select('id')
      .where('userId', '=', user.id)
      .where('usedAt', 'is not', null)
      .execute();
    expect(used).toHaveLength(1);
    const mails = (await foyer.mails(user.email)).filter(({ template }) => template === 'recovery-code-used');
    expect(mails).toHaveLength(1);
    expect(await foyer.app.sessions.list(user.id)).toHaveLength(1);
  });

  it('One recovery code sent at once to five challenges starts one session', async () => {
    const { user } = await memberWithTotp(foyer);
    const [code = ''] = await giveRecoveryCodes(foyer, user);
    const browsers = Array.from({ length: 5 }, () => foyer.browser());
    for (const browser of browsers) await toChallenge(browser, user);
    await Promise.all(browsers.map((browser) => show(browser, code, { method: 'recovery' })));
    expect(await foyer.app.sessions.list(user.id)).toHaveLength(1);
  });

  it('A wrong recovery code leaves the challenge and the codes as they are', async () => {
    const { user } = await memberWithTotp(foyer);
    const [code = '', other = ''] = await giveRecoveryCodes(foyer, user);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    const wrong = other.startsWith('A') ? `B${other.slice(1)}` : `A${other.slice(1)}`;
    expect((await show(browser, wrong, { method: 'recovery' })).status).toBe(400);
    expect((await show(browser, code, { method: 'recovery' })).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('Of 50 uses of one TOTP code at once one succeeds (replay)', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browsers = Array.from({ length: 50 }, () => foyer.browser());
    for (const browser of browsers) await toChallenge(browser, user);
    const code = await appCode(foyer, secret);
    const answers = await Promise.all(browsers.map((browser) => show(browser, code)));
    const signedIn = await Promise.all(browsers.map(isSignedIn));
    expect(signedIn.filter(Boolean)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  it('One recovery code sent from several browsers at once signs in one of them', async () => {
    const { user } = await memberWithTotp(foyer);
    const [code = ''] = await giveRecoveryCodes(foyer, user);
    const browsers = Array.from({ length: 10 }, () => foyer.browser());
    for (const browser of browsers) await toChallenge(browser, user);
    await Promise.all(browsers.map((browser) => show(browser, code, { method: 'recovery' })));
    expect((await Promise.all(browsers.map(isSignedIn))).filter(Boolean)).toHaveLength(1);
  });

  it('An SMS code for one purpose, flow or user is refused for another', async () => {
    const [ada, ben] = [await memberWithSms(foyer), await memberWithSms(foyer)];
    const [one, other, third] = [foyer.browser(), foyer.browser(), foyer.browser()];
    await toChallenge(one, ada.user);
    const first = await textedCode(foyer, ada.phone);
    await toChallenge(other, ada.user);
    await toChallenge(third, ben.user);
    const [second, bens] = [await textedCode(foyer, ada.phone), await textedCode(foyer, ben.phone)];
    if (first !== second) expect((await show(other, first)).status).toBe(400);
    if (first !== bens) expect((await show(third, first)).status).toBe(400);
    expect((await show(one, first)).status).toBe(303);
  });

  it('A code sent to a stolen phone is refused once the user has another number', async () => {
    const { user, phone } = await memberWithSms(foyer);
    const [member, thief] = [foyer.browser(), foyer.browser()];
    await toChallenge(member, user);
    await show(member, await textedCode(foyer, phone));
    await toChallenge(thief, user);
    const code = await textedCode(foyer, phone);
    await phoneTo(foyer, member, fresh().phone);
    expect((await show(thief, code)).status).toBe(400);
    expect(await isSignedIn(thief)).toBe(false);
  });
});
