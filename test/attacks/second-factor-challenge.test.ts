import { reset } from '../password/steps.ts';
import {
  appCode,
  giveRecoveryCodes,
  isSignedIn,
  memberWithTotp,
  otherThan,
  show,
  stepMs,
  toChallenge,
} from '../sign-in/factor-steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

const minuteMs = 60_000;

describe.each(backends)('attacks on the second factor on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const locations = (answers: Response[]) => answers.map((answer) => answer.headers.get('location') ?? answer.status);
  const over = '/#second-factor-over';
  async function resetPassword(email: string): Promise<string> {
    const chosen = 'another long phrase 5';
    await reset(foyer, foyer.browser(), email, chosen);
    return chosen;
  }

  it('A challenge of another browser or a made-up id opens nothing', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const [victim, attacker] = [foyer.browser(), foyer.browser()];
    await toChallenge(victim, user);
    const code = await appCode(foyer, secret);
    expect((await show(attacker, code)).headers.get('location')).toBe(over);
    for (const id of ['x', '.'.repeat(43), 'A'.repeat(43), 'a'.repeat(4_000)]) {
      await attacker.jar.setCookie(`foyer_challenge=${id}`, foyer.url);
      expect((await show(attacker, code)).headers.get('location')).toBe(over);
    }
    // None of these attempts has used the code up.
    expect((await show(victim, code)).status).toBe(303);
    expect(await isSignedIn(attacker)).toBe(false);
  });

  it('A code of one user does not answer another user’s challenge', async () => {
    const [ada, ben] = [await memberWithTotp(foyer), await memberWithTotp(foyer)];
    const browser = foyer.browser();
    await toChallenge(browser, ben.user);
    expect((await show(browser, await appCode(foyer, ada.secret))).status).toBe(400);
    const [code = ''] = await giveRecoveryCodes(foyer, ada.user);
    expect((await show(browser, code, { method: 'recovery' })).status).toBe(400);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('A session or challenge id from before the sign-in leads to no session afterwards (session fixation)', async () => {
    const [{ user, secret }, attacker] = [await memberWithTotp(foyer), await foyer.addUser()];
    const theirs = await foyer.signedIn(attacker);
    const planted = (await theirs.cookies()).foyer_session ?? '';
    const attackersChallenge = foyer.browser();
    await toChallenge(attackersChallenge, user);
    const known = (await attackersChallenge.cookies()).foyer_challenge ?? '';

    const victim = foyer.browser();
    await victim.jar.setCookie(`foyer_session=${planted}`, foyer.url);
    await victim.jar.setCookie(`foyer_challenge=${known}`, foyer.url);
    await toChallenge(victim, user);
    expect((await victim.cookies()).foyer_challenge).not.toBe(known);
    expect((await show(victim, await appCode(foyer, secret))).status).toBe(303);
    expect((await victim.cookies()).foyer_session).not.toBe(planted);
    // The attacker who planted the cookies has neither the user's session nor an open challenge.
    const home = await (await theirs.get('/settings')).text();
    expect(home).not.toContain(user.email);
    expect((await attackersChallenge.get('/second-factor')).headers.get('location')).toBe(over);
  });

  it('A victim with a planted challenge of the attacker signs in to the own account or not at all', async () => {
    const [victim, attacker] = [await memberWithTotp(foyer), await memberWithTotp(foyer)];
    const theirs = foyer.browser();
    await toChallenge(theirs, attacker.user);
    const browser = foyer.browser();
    await browser.jar.setCookie(`foyer_challenge=${(await theirs.cookies()).foyer_challenge}`, foyer.url);
    await toChallenge(browser, victim.user);
    await show(browser, await appCode(foyer, victim.secret));
    expect(await (await browser.get('/settings')).text()).toContain(victim.user.email);
  });

  it('One challenge that is answered 20 times at once starts one session', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    const [code, cookie] = [await appCode(foyer, secret), (await browser.cookies()).foyer_challenge ?? ''];
    const copies = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const copy = foyer.browser();
        await copy.jar.setCookie(`foyer_challenge=${cookie}`, foyer.url);
        return copy;
      }),
    );
    await Promise.all(copies.map((copy) => show(copy, code)));
    expect((await Promise.all(copies.map(isSignedIn))).filter(Boolean)).toHaveLength(1);
  });

  it('Five wrong codes end a challenge, and the right sixth code is refused', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    const code = await appCode(foyer, secret);
    const answers: Response[] = [];
    for (let n = 1; n <= 5; n += 1) answers.push(await show(browser, otherThan(code, n * 1_000)));
    expect(locations(answers)).toEqual([400, 400, 400, 400, over]);
    expect((await show(browser, code)).headers.get('location')).toBe(over);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('An expired challenge is refused', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    foyer.passTime(10 * minuteMs);
    expect((await show(browser, await appCode(foyer, secret))).headers.get('location')).toBe(over);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('A password reset voids the challenge and forgets remembered devices but does not remove the factor', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const [remembered, waiting] = [foyer.browser(), foyer.browser()];
    await toChallenge(remembered, user);
    await show(remembered, await appCode(foyer, secret), { rememberDevice: '1' });
    await toChallenge(waiting, user);
    const newPassword = await resetPassword(user.email);
    foyer.passTime(stepMs);
    expect((await show(waiting, await appCode(foyer, secret))).headers.get('location')).toBe(over);
    const again = await remembered.post('/sign-in', { username: user.email, password: newPassword });
    expect(again.headers.get('location')).toBe('/second-factor');
    expect((await show(remembered, await appCode(foyer, secret))).status).toBe(303);
  });

  it('A post from another site answers, changes and sends nothing', async () => {
    const { user, secret } = await memberWithTotp(foyer, { phone: '+4915119870001', phoneVerified: true });
    const browser = foyer.browser();
    await toChallenge(browser, user);
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const code = await appCode(foyer, secret);
    expect((await browser.post('/second-factor', { code }, foreign)).status).toBe(403);
    expect((await browser.post('/second-factor', { act: 'use', method: 'sms' }, foreign)).status).toBe(403);
    expect((await browser.post('/re-authenticate', { password }, foreign)).status).toBe(403);
    expect(await foyer.texts('+4915119870001')).toEqual([]);
    expect((await show(browser, code)).status).toBe(303);
  });
});
