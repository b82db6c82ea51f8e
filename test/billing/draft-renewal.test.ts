import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { formatPlainDate } from '../../views/format.ts';
import type { Browser } from '../support/browser.ts';
import { anyBackend } from '../support/stores.ts';
import { wordsOf } from './checkout/shop.ts';
import { dayMs, from, manyCards, type Shop, startShop } from './steps.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const cancelPath = '/settings/membership/cancel';

/** Stripe keeps the invoice of a renewal as a draft for an hour, in which the new period is not paid yet. */
describe('the hour in which a renewal is a draft', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards, { draftsRenewals: true });
  });
  afterAll(() => shop?.close());

  const pageWords = async (browser: Browser, path: string) => wordsOf(await (await browser.get(path)).text());
  const charges = async (user: User) =>
    (await listOrders(shop.foyer.deps.database.db, user.id)).map((o) => o.paidCents);
  async function customerOf(user: User): Promise<string> {
    return (await shop.membership.getMembership(user.id))?.customerId ?? '';
  }

  /** A member of Starter, some minutes after the renewal has begun. */
  async function renewingMember() {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const { periodEnd } = (await shop.membership.getMembership(user.id)) ?? {};
    shop.passTime((periodEnd ?? 0) - shop.stripe.engine.nowMs() + 5 * minuteMs);
    await shop.membership.refresh(user.id);
    return { user, browser: await shop.foyer.signedIn(user) };
  }

  it('The member keeps the plan while the renewal is a draft', async () => {
    const { user, browser } = await renewingMember();
    expect((await shop.userNow(user)).planId).toBe('10');
    expect(await pageWords(browser, '/settings/membership')).not.toContain('failed');
  });

  it.each(['subscription_cycle', 'subscription_update'])(
    'An upgrade waits for the first invoice of a scheduled plan, which is a draft because of %s',
    async (reason) => {
      const user = await shop.foyer.addUser();
      await shop.saveCard(user);
      for (const code of ['m-899', 'm-99']) await shop.buy(user, code);
      const { periodEnd, subscriptionId } = (await shop.membership.getMembership(user.id)) ?? {};
      shop.passTime((periodEnd ?? 0) - shop.stripe.engine.nowMs() + 5 * minuteMs);
      const { latest_invoice: latest } = await shop.stripe.client().subscriptions.retrieve(subscriptionId ?? '');
      const state = shop.stripe.engine.snapshot() as { objects: { id: string; billing_reason?: string }[] };
      for (const one of state.objects) if (one.id === latest) one.billing_reason = reason;
      shop.stripe.engine.restore(state);
      await shop.membership.refresh(user.id);
      expect(await shop.buy(user, 'y-8000')).toMatchObject({ kind: 'renewing', renewal: { amountCents: 9_900 } });
      shop.passTime(2 * hourMs);
      await shop.membership.refresh(user.id);
      expect((await shop.userNow(user)).planId).toBe('10');
      expect(await charges(user)).toEqual([9_900, 89_900]);
    },
  );

  it('The plan before a scheduled change is not the current one any more while the first payment of the next is a draft', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    for (const code of ['m-499', 'm-99']) await shop.buy(user, code);
    const { periodEnd } = (await shop.membership.getMembership(user.id)) ?? {};
    shop.passTime((periodEnd ?? 0) - shop.stripe.engine.nowMs() + 5 * minuteMs);
    await shop.membership.refresh(user.id);
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'renewing', renewal: { amountCents: 9_900 } });
    shop.passTime(2 * hourMs);
    await shop.membership.refresh(user.id);
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid', plan: { id: '12' } });
    expect((await shop.userNow(user)).planId).toBe('12');
  });

  it('The page of a higher plan names the renewal and a time, without an amount due and without a button', async () => {
    const { user, browser } = await renewingMember();
    const page = await browser.get('/plan-purchase/12');
    const html = await page.text();
    expect(page.status).toBe(200);
    // Ten minutes after Stripe finalizes the draft.
    const [draft] = (await shop.stripe.client().invoices.list({ customer: await customerOf(user), status: 'draft' }))
      .data;
    const from = ((draft?.automatically_finalizes_at ?? 0) + 600) * 1_000;
    const time = formatPlainDate('en', from, 'dateTime').replaceAll(/\s/g, ' ');
    expect(wordsOf(html).replaceAll(/\s/g, ' ')).toContain(
      `Your renewal of $99.00 is being charged. You can change your plan from ${time} UTC.`,
    );
    expect(wordsOf(html)).not.toMatch(/Due today|Something went wrong|Confirm|Complete/);
    expect(html).not.toContain('name="dueCents"');
  });

  it('A confirmation that was sent from an older page is answered 409 with the same words, and charges nothing', async () => {
    const { user, browser } = await renewingMember();
    const answer = await browser.post('/plan-purchase/12', { planId: '12', dueCents: '40000' });
    expect(answer.status).toBe(409);
    expect(wordsOf(await answer.text())).toContain('Your renewal of $99.00 is being charged.');
    expect(await charges(user)).toEqual([9_900]);
  });

  it('The JSON API answers an upgrade with 409 and the seconds to wait', async () => {
    const { user, browser } = await renewingMember();
    const { customerId, subscriptionId } = (await shop.membership.getMembership(user.id)) ?? {};
    const answer = await browser.request(`/customer/${customerId}/subscription/${subscriptionId}`, {
      method: 'POST',
      headers: { origin: shop.foyer.url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: JSON.stringify({ plan_name: 'm-499', amount: '400.00' }),
    });
    expect(answer.status).toBe(409);
    // 55 minutes of the draft are left, and ten are for the payment.
    const seconds = Number(answer.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(64 * 60);
    expect(seconds).toBeLessThanOrEqual(65 * 60);
    expect(await charges(user)).toEqual([9_900]);
  });

  it('A lower plan can be chosen for the end of the period that has just begun', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    const { periodEnd } = (await shop.membership.getMembership(user.id)) ?? {};
    shop.passTime((periodEnd ?? 0) - shop.stripe.engine.nowMs() + 5 * minuteMs);
    await shop.membership.refresh(user.id);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    shop.passTime(2 * hourMs);
    await shop.membership.refresh(user.id);
    expect(await charges(user)).toEqual(expect.arrayContaining([49_900, 49_900]));
  });

  it.each([
    ['credit', -1_000, 48_900],
    ['debt', 45, 49_945],
  ])(
    'A later plan that is chosen in the hour is announced without the %s that the renewal takes up',
    async (_name, balance, renewalCents) => {
      const user = await shop.foyer.addUser();
      await shop.saveCard(user);
      expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
      await shop.stripe.client().customers.update(await customerOf(user), { balance });
      const { periodEnd } = (await shop.membership.getMembership(user.id)) ?? {};
      shop.passTime((periodEnd ?? 0) - shop.stripe.engine.nowMs() + 5 * minuteMs);
      await shop.membership.refresh(user.id);
      const browser = await shop.foyer.signedIn(user);
      expect(await pageWords(browser, '/plan-purchase/10')).toMatch(
        /from \w+ \d+, \d{4} \$99\.00 .*Until then you keep /,
      );
      expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
      const next = { amountCents: 9_900, creditUsedCents: 0 };
      expect(await shop.membership.getMembership(user.id)).toMatchObject({ nextCharge: next });
      const mails = await shop.foyer.mails(user.email);
      const { values } = mails.findLast(({ template }) => template === 'plan-changes') ?? {};
      expect(values).toMatchObject({ amountCents: 9_900 });
      shop.passTime(2 * hourMs);
      await shop.membership.refresh(user.id);
      expect(await charges(user)).toContain(renewalCents);
      expect(await shop.membership.getMembership(user.id)).toMatchObject({ nextCharge: next });
      shop.passTime(32 * dayMs);
      await shop.membership.refresh(user.id);
      expect(await charges(user)).toContain(9_900);
    },
  );

  it('After the hour the renewal is charged, and the upgrade credits the rest of its period', async () => {
    const { user } = await renewingMember();
    shop.passTime(hourMs);
    await shop.membership.refresh(user.id);
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    const paid = (await charges(user)).toSorted((a, b) => a - b);
    expect(paid.slice(0, 2)).toEqual([9_900, 9_900]);
    expect(paid).toHaveLength(3);
    expect(paid[2]).toBeLessThan(40_100);
  });

  it('The page that cancels says that the renewal has begun, and the member keeps what it pays', async () => {
    const { user, browser } = await renewingMember();
    const end = formatPlainDate('en', (await shop.membership.getMembership(user.id))?.periodEnd ?? 0, 'date');
    const words = await pageWords(browser, cancelPath);
    expect(words).toContain(`Your renewal of $99.00 for the period until ${end} has begun and is charged.`);
    expect(words).toContain(`Until ${end} you keep everything`);
    expect(words).toMatch(/The renewal isn’t given back\..*You can also end Starter now\./);
    await browser.post(cancelPath);
    shop.passTime(2 * hourMs);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'active', cancelAtPeriodEnd: true });
    expect(await charges(user)).toEqual([9_900, 9_900]);
    shop.passTime(40 * dayMs);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
    expect(await charges(user)).toEqual([9_900, 9_900]);
  });

  it('Ending at once pays nothing: the draft is voided, and the subscription ends', async () => {
    const { user, browser } = await renewingMember();
    const answer = await browser.post(cancelPath, { when: 'now' });
    expect(answer.headers.get('location')).toContain('ended');
    shop.passTime(2 * hourMs);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
    expect(await charges(user)).toEqual([9_900]);
    const invoices = await shop.stripe.client().invoices.list({ customer: await customerOf(user) });
    expect(invoices.data.map(({ status }) => status)).not.toContain('draft');
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('A renewal that the operator keeps as a draft is named as on hold, and the member can end the plan and pay nothing', async () => {
    const { user, browser } = await renewingMember();
    const customer = await customerOf(user);
    const client = shop.stripe.client();
    const [draft] = (await client.invoices.list({ customer, status: 'draft' })).data;
    // As pause_collection does with the behavior keep_as_draft.
    await client.invoices.update(draft?.id ?? '', { auto_advance: false });
    shop.passTime(3 * dayMs);
    await shop.membership.refresh(user.id);
    const page = await browser.get('/plan-purchase/12');
    expect(page.status).toBe(200);
    expect(wordsOf(await page.text())).toContain(
      'Your renewal of $99.00 is on hold and not charged yet. You can change your plan when it has been paid.',
    );
    expect((await browser.post('/plan-purchase/12', { planId: '12', dueCents: '40000' })).status).toBe(409);
    const again = await shop.foyer.signedIn(user);
    expect(await pageWords(again, cancelPath)).toMatch(
      /Your renewal of \$99\.00 .+ is on hold\. It may still be charged\./,
    );
    expect((await again.post(cancelPath, { when: 'now' })).headers.get('location')).toContain('ended');
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
    expect(await charges(user)).toEqual([9_900]);
  });

  it('Asking to end at once ends a paid period only when it is over', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const browser = await shop.foyer.signedIn(user);
    await browser.post(cancelPath, { when: 'now' });
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'active', cancelAtPeriodEnd: true });
  });

  it('A plan that was chosen before the renewal is not charged within its hour', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    await shop.membership.choose(user, shop.plan('m-499'));
    const { periodEnd } = (await shop.membership.getMembership(user.id)) ?? {};
    shop.passTime((periodEnd ?? 0) - shop.stripe.engine.nowMs() + 5 * minuteMs);
    const confirmed = await shop.membership.confirm(user, { planId: shop.plan('m-499').id, dueCents: 40_000 }, from);
    expect(confirmed).toMatchObject({ kind: 'renewing', renewal: { amountCents: 9_900 } });
    expect(await charges(user)).toEqual([9_900]);
  });
});
