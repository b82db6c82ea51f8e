import { createLease } from '../../../server/store/index.ts';
import type { User } from '../../../server/users/index.ts';
import { type Browser, locationOf } from '../../support/browser.ts';
import { waitFor } from '../../support/wait-for.ts';
import { mainForm, openProxiedShop, type ProxiedShop, wordsOf } from './shop.ts';

let shop: ProxiedShop;
beforeAll(async () => {
  shop = await openProxiedShop();
});
afterEach(() => shop.proxy.mend());
afterAll(() => shop?.close());

const summary = '/plan-purchase/12';
const completed = /\/signup\/completed\/m-499$/;

/** A member with a saved card on the page of a plan. */
async function buyer({ path = summary, paymentMethod = 'pm_card_visa' } = {}) {
  const user = await shop.foyer.addUser();
  await shop.saveCard(user, paymentMethod);
  const browser = await shop.foyer.signedIn(user);
  await browser.post(path === summary ? '/plan-purchase' : '/signup/changePlan', { act: 'choose', planId: '12' });
  const { action, fields } = mainForm(await (await browser.get(path)).text());
  return { user, browser, pay: () => browser.post(action, fields) };
}

/** The page that follows a payment, without a form but that of the sign-out. */
async function expectFollowed(browser: Browser, path = summary, opened = path): Promise<void> {
  const answer = await browser.get(opened);
  const page = await answer.text();
  expect([answer.status, answer.headers.get('refresh')]).toEqual([200, `8; url=${path}`]);
  expect(wordsOf(page)).toContain('Your payment is being completed');
  expect(wordsOf(page)).not.toMatch(/Pay \$|Due today/);
  expect(page).not.toMatch(/<form class="(?:actions|form)/);
}

/** As an act on the payments of a member in another process does. */
const otherProcess = ({ id }: User) =>
  createLease(shop.foyer.stores.database, `billing:${id}`, { ttlMs: 60_000, now: Date.now });

const chargesBy = async (user: User) =>
  (await shop.stripe.invoices.list({ customer: await shop.customerOf(user), limit: 100 })).data
    .filter(({ total }) => total > 0)
    .map(({ status, amount_paid: cents }) => `${status} ${cents}`);

it.each([
  ['of a change', summary, `${summary}/addPayment`],
  ['of a sign-up', '/signup/verifiedCode', '/signup/addPayment'],
])(
  'While a payment %s runs, no page of its plan offers to pay, and a second click ends like the first',
  async (_name, path, payment) => {
    const { user, pay } = await buyer({ path });
    const otherTab = await shop.foyer.signedIn(user);
    shop.proxy.delay(500);
    let isAnswered = false;
    const first = pay().finally(() => {
      isAnswered = true;
    });
    const second = pay();
    await waitFor(() => expectFollowed(otherTab, path));
    await expectFollowed(otherTab, path, payment);
    expect(isAnswered).toBe(false);

    for (const answer of await Promise.all([first, second])) expect(locationOf(answer)).toMatch(completed);
    await shop.proxy.mend();
    // The tab that has followed the payment comes to its end, too.
    const end = await otherTab.get(path);
    expect([end.status, locationOf(end)]).toEqual([303, expect.stringMatching(completed)]);
    expect(wordsOf(await (await otherTab.get(locationOf(end))).text())).toContain('Payment received.');
    // Once.
    const later = await otherTab.get(path);
    expect(later.headers.get('location')).toBe(path === summary ? null : '/sandbox/search');
    expect(await chargesBy(user)).toEqual(['paid 49900']);
  },
  60_000,
);

it('While another process finishes a started payment, the page of its plan does not offer to pay', async () => {
  const { user, browser, pay } = await buyer({ paymentMethod: 'pm_card_chargeCustomerFail' });
  expect(wordsOf(await (await pay()).text())).toContain('declined');
  const lease = otherProcess(user);
  expect(await lease.acquire()).toBe(true);
  await expectFollowed(browser);
  await lease.release();
  const page = wordsOf(await (await browser.get(summary)).text());
  expect(page).toContain('You started a payment and didn’t finish it.');
  expect(page).toMatch(/Pay \$499\.00/);
});

it('Another act on the payments of a member does not hide the button that pays', async () => {
  const { user, browser } = await buyer();
  const lease = otherProcess(user);
  await lease.acquire();
  expect(wordsOf(await (await browser.get(summary)).text())).toMatch(/Pay \$499\.00/);
  await lease.release();
});

it('A payment that fails after its request was answered is in the log, and the page says that nothing was charged', async () => {
  const { user, browser, pay } = await buyer();
  shop.proxy.freeze();
  const beganMs = performance.now();
  const answer = await pay();
  expect(performance.now() - beganMs).toBeLessThan(25_000);
  expect([answer.status, answer.headers.get('sent-location')]).toEqual([303, summary]);
  await expectFollowed(browser);
  const again = await pay();
  expect([again.status, again.headers.get('sent-location')]).toEqual([303, summary]);

  await shop.proxy.refuse();
  await waitFor(() => expect(shop.foyer.logged()).toMatch(/payment failed after its request/), 60_000);
  await shop.proxy.mend();
  const page = wordsOf(await (await browser.get(summary)).text());
  expect(page).toContain('Your payment wasn’t made, and nothing was charged.');
  expect(page).toMatch(/Pay \$499\.00/);
  expect(await chargesBy(user)).toEqual([]);
  // Once.
  expect(wordsOf(await (await browser.get(summary)).text())).not.toContain('wasn’t made');

  expect(locationOf(await pay())).toMatch(completed);
  expect(await chargesBy(user)).toEqual(['paid 49900']);
}, 120_000);
