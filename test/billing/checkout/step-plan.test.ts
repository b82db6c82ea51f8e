import { newPassword } from '../../sign-up/steps.ts';
import { pathOf, startPlanStep, startWithStarter, summary } from './plan-step.ts';
import { mainForm, openShop, press, type Shop, wordsOf } from './shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

describe('the pages of step 2', () => {
  it('Every page after the code has the button that signs out', async () => {
    const { browser } = await startWithStarter(shop);
    const signOut = /<form class="sign-out"[^>]*action="\/logout"[^>]*><button type="submit">/;
    for (const path of [summary, '/signup/changePlan', '/signup/addPayment', '/signup/billingDetails']) {
      expect([path, signOut.test(await (await browser.get(path)).text())]).toEqual([path, true]);
    }
    const trial = await startPlanStep(shop);
    expect(await (await trial.browser.get(summary)).text()).toMatch(signOut);
  });

  it('Step 2 says once that the code was right, and a reload does not say it again', async () => {
    const { browser } = await startPlanStep(shop);
    const said = async (path: string) =>
      wordsOf(await (await browser.get(path)).text()).includes('Successfully confirmed!');
    expect([await said(summary), await said(summary)]).toEqual([true, false]);
  });

  it('The address and the page name the same plan at every step, also when another plan was chosen before', async () => {
    const { browser } = await startPlanStep(shop, '/signup/plan/starter-yearly');
    const named = async (path: string) => wordsOf(await (await browser.get(path)).text());
    expect(await named('/signup/plan/starter-yearly/verifiedCode')).toContain('Starter, annual $900.00');
    expect(pathOf(shop, await press(browser, '/signup/plan/starter-yearly/verifiedCode'))).toBe(
      '/signup/plan/starter-yearly/addPayment',
    );
    for (const step of ['verifiedCode', 'addPayment']) {
      const words = await named(`/signup/plan/growth-monthly/${step}`);
      expect([step, words.includes('Growth, monthly $499.00'), words.includes('$900')]).toEqual([step, true, false]);
    }
    const chosen = await browser.post('/signup/plan/growth-monthly/changePlan', { act: 'choose', planId: '15' });
    expect(pathOf(shop, chosen)).toBe('/signup/plan/scale-yearly/verifiedCode');
    expect(await named('/signup/plan/scale-yearly/verifiedCode')).toContain('Scale, annual $8,000.00');
  });

  it('A payment that was started for another plan is named, and both plans can be had', async () => {
    const { browser, user } = await startPlanStep(shop, '/signup/plan/starter-yearly');
    await shop.saveCard(user, 'pm_card_authenticationRequired');
    const before = '/signup/plan/starter-yearly/verifiedCode';
    await press(browser, before);
    const other = await (await browser.get('/signup/plan/growth-monthly/verifiedCode')).text();
    expect(wordsOf(other)).toContain('You haven’t finished the payment for Starter, annual');
    expect(other).toContain(`href="${before}">Finish Starter, annual</a>`);
    expect(wordsOf(other)).toContain('Growth, monthly');
    expect(mainForm(other).fields).toMatchObject({ planId: '12' });
    // On another device: the first page says so.
    const device = shop.foyer.browser();
    await device.post('/sign-in', { username: user.email, password: newPassword });
    const picker = await (await device.get('/plan-purchase')).text();
    expect(wordsOf(picker)).toContain('You haven’t finished the payment for Starter, annual');
    expect(picker).toContain('href="/plan-purchase/11">Finish Starter, annual</a>');
  });
});
