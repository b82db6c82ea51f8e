import { addBillingTask } from '../../server/billing/jobs/task-store.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import type { Shop } from '../billing/steps.ts';
import { page, path, standing, startMembershipPages, withPlan } from './membership-steps.ts';

describe('the credit of a member', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startMembershipPages();
  });
  afterAll(() => shop?.close());

  const wordsAt = async (browser: Awaited<ReturnType<typeof withPlan>>['browser'], address: string) =>
    wordsOf(await (await browser.get(address)).text());

  it('The pages of the membership, of its cancellation and of the deletion name the credit', async () => {
    const { user, browser } = await withPlan(shop, 'y-900');
    // What is left of the year is more than a month of the higher plan.
    await shop.buy(user, 'm-499');
    expect(await page(browser)).toContain('Your credit $401.00');
    expect(await page(browser, `${path}/cancel`)).toContain('Your credit of $401.00 stays for later purchases.');
    expect(await wordsAt(browser, '/settings/delete-account')).toContain(
      'Your credit of $401.00 is lost. If you want it back, write to us before.',
    );
  });

  it('Without a credit none of the pages mentions one', async () => {
    const { browser } = await withPlan(shop);
    for (const address of [path, `${path}/cancel`, '/settings/delete-account']) {
      expect(await wordsAt(browser, address)).not.toMatch(/your credit/i);
    }
  });

  it.each([
    ['en', 'Another $401.00 is paid from your credit.'],
    ['de', 'Weitere 401,00\u{a0}$ zahlt Ihr Guthaben.'],
    ['fr', '401,00\u{a0}$ de plus sont réglés par votre avoir.'],
    ['nl', 'Nog $\u{a0}401,00 wordt met je tegoed betaald.'],
  ])(
    'The page that lets a plan go on names the part of its renewal that the credit pays (%s)',
    async (lang, sentence) => {
      const { user, browser } = await withPlan(shop, 'y-900');
      await shop.buy(user, 'm-499');
      await shop.membership.cancel(user);
      const response = await browser.get(`${path}/resume`, { headers: { 'accept-language': lang } });
      expect(wordsOf(await response.text())).toContain(sentence.replaceAll('\u{a0}', ' '));
    },
  );

  it.each([
    ['a cancelled plan', 'as it did before'],
    ['a change to a cheaper plan', 'You won’t change to Starter'],
  ])('The page that takes back %s names the credit when that pays the whole renewal of $0.00', async (end, words) => {
    const { user, browser } = await withPlan(shop, 'm-499');
    const { customerId } = await standing(shop, user);
    await shop.stripe.client().customers.update(customerId ?? '', { balance: -60_000 });
    if (end === 'a cancelled plan') await shop.membership.cancel(user);
    else expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    const shown = await page(browser, `${path}/resume`);
    expect(shown).toContain(words);
    expect(shown).toMatch(/renews on .* at \$0\.00.*\. Another \$499\.00 is paid from your credit\./);
  });

  it('The log names the credit that is lost with a customer', async () => {
    const { user } = await withPlan(shop, 'y-900');
    await shop.buy(user, 'm-499');
    const { customerId } = await standing(shop, user);
    const { database, now } = shop.foyer.deps;
    await database.transaction((trx) =>
      addBillingTask(trx, { kind: 'delete-customer', userId: user.id, customerId }, now()),
    );
    await shop.membership.work();
    const line = shop.foyer
      .logged()
      .split('\n')
      .find((one) => one.includes('customer deleted with credit'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      act: 'delete-customer',
      customer: customerId,
      balanceCents: -40_100,
      currency: 'usd',
    });
  });
});
