import type { User } from '../../../server/users/index.ts';
import { askToLeave } from '../../account/deletion/steps.ts';
import { plansWith } from '../../support/plans.ts';
import { asMember, starter } from '../api-steps.ts';
import { dayMs, from } from '../steps.ts';
import { accounts, beginMethodAt, confirmMethod, methodData } from './card-steps.ts';
import { openShop, press, type Shop, wordsOf } from './shop.ts';

const planPath = (id: string) => `/plan-purchase/${id}`;
const minuteMs = 60_000;

describe('plans paid by SEPA debit', () => {
  let shop: Shop;
  beforeAll(async () => {
    const plans = plansWith({ currency: 'eur', periods: 'days' });
    shop = await openShop({ PAYMENT_METHODS: 'card,sepa_debit', PLANS_FILE: plans });
    shop.standIn.tell(shop.foyer.url);
  });
  afterAll(() => shop?.close());

  const membershipOf = (user: User) => shop.foyer.app.membership.getMembership(user.id);
  const templatesTo = async (user: User) => (await shop.foyer.mails(user.email)).map(({ template }) => template);
  const subscriptionsOf = async (customer: string) =>
    (await shop.stripe.subscriptions.list({ customer, status: 'all' })).data;
  const paidOf = async (customer: string) =>
    (await shop.paidInvoices()).filter((invoice) => invoice.customer === customer).map((one) => one.amount_paid);
  /** Lets time pass at Stripe, and runs the jobs of the minutes after it. */
  async function pass(ms: number): Promise<void> {
    shop.standIn.engine.advance(ms);
    await shop.standIn.webhooks.idle();
    await shop.foyer.app.membership.work();
    shop.standIn.engine.advance(3 * minuteMs);
    await shop.standIn.webhooks.idle();
    await shop.foyer.app.membership.work();
  }
  /** Enters an account on the payment page and presses the button. */
  async function debit(user: User, iban: string, id = '10') {
    const customer = await shop.customerOf(user);
    const browser = await shop.foyer.signedIn(user);
    const page = `${planPath(id)}/addPayment`;
    const begun = await beginMethodAt(browser, page);
    confirmMethod(shop, begun, { data: methodData.debit(iban) });
    const { action, fields, setupIntent } = begun;
    const answer = await browser.post(action, { ...fields, setupIntent });
    await shop.standIn.webhooks.idle();
    return { browser, customer, answer };
  }
  /** Saves an account without buying. @returns calls of the JSON API, and the path of the subscription */
  async function withAccount(user: User, iban: string) {
    const customer = await shop.customerOf(user);
    const browser = await shop.foyer.signedIn(user);
    const begun = await beginMethodAt(browser, '/settings/membership/card');
    confirmMethod(shop, begun, { data: methodData.debit(iban) });
    await browser.post(begun.action, { ...begun.fields, setupIntent: begun.setupIntent });
    const { subscriptionId, card } = (await membershipOf(user)) ?? {};
    expect(card).toMatchObject({ brand: 'sepa_debit' });
    const call = await asMember(shop, user);
    const path = `/customer/${customer}/subscription/${subscriptionId}`;
    return {
      customer,
      browser,
      upgrade: (body: object) => call('POST', path, { ...starter, currency: 'eur', ...body }),
    };
  }
  const membershipPage = async (browser: Awaited<ReturnType<typeof debit>>['browser']) =>
    wordsOf(await (await browser.get('/settings/membership')).text());

  it('A plan is not given while the bank has the debit, the pages say so, and its payment gives it with one receipt', async () => {
    const user = await shop.foyer.addUser();
    const { browser, customer, answer } = await debit(user, accounts.succeedsLate);
    // The page with the button has said so before.
    const other = await shop.foyer.signedIn(await shop.foyer.addUser());
    expect(wordsOf(await (await other.get(`${planPath('10')}/addPayment`)).text())).toMatch(
      /A bank debit takes up to 14 working days\. Your plan begins when your bank has paid\./,
    );
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/settings/membership']);
    expect(await shop.planOf(user)).toBeNull();
    expect(await membershipOf(user)).toMatchObject({
      card: { brand: 'sepa_debit', lastFour: '3003' },
      pending: { planId: '10', amountCents: 9_900, debit: 'purchase' },
    });
    const words = await membershipPage(browser);
    expect(words).toContain('We’re waiting for your bank');
    expect(words).toContain('It can take up to 14 working days');
    expect(words).toContain('SEPA debit •••• 3003');
    // None is offered that could not be bought.
    expect(words).not.toMatch(/Choose a plan|Your trial/);
    // Neither this plan nor another is sold again meanwhile.
    for (const id of ['10', '12']) {
      expect((await browser.get(planPath(id))).headers.get('location')).toBe('/settings/membership');
    }
    await shop.foyer.app.membership.work();
    expect(await shop.planOf(user)).toBeNull();

    await pass(5 * minuteMs);
    expect(await shop.planOf(user)).toBe('10');
    expect(await paidOf(customer)).toEqual([9_900]);
    expect(await membershipOf(user)).toMatchObject({ pending: null, status: 'active', paidPlanId: '10' });
    expect((await shop.foyer.app.membership.purchase(user.id))?.state).toBeUndefined();
    expect((await templatesTo(user)).filter((template) => template === 'receipt')).toHaveLength(1);
  });

  it('A trial goes on until the bank has paid', async () => {
    const user = await shop.foyer.addUser();
    await shop.customerOf(user);
    const before = await membershipOf(user);
    expect(before?.status).toBe('trialing');
    // An account of its own: one that was used for another trial would end this one.
    await debit(user, 'AT321904300235473204');
    expect(await membershipOf(user)).toMatchObject({ status: 'trialing', trialEnd: before?.trialEnd });
  });

  it('A debit that the bank refuses leaves no plan and no subscription that renews, and the member is told once', async () => {
    const user = await shop.foyer.addUser();
    const { browser, customer } = await debit(user, accounts.failsLate);
    expect(await shop.planOf(user)).toBeNull();
    await pass(5 * minuteMs);
    expect(await shop.planOf(user)).toBeNull();
    expect((await subscriptionsOf(customer)).map(({ status }) => status)).toEqual(['canceled']);
    const { data: invoices } = await shop.stripe.invoices.list({ customer, status: 'open' });
    expect(invoices).toEqual([]);
    expect((await templatesTo(user)).filter((template) => template === 'payment-failed')).toHaveLength(1);
    await pass(60 * dayMs);
    expect(await paidOf(customer)).toEqual([]);
    // Another way to pay is open again.
    expect((await browser.get(planPath('10'))).status).toBe(200);
  });

  it('Events of a debit that arrive twice, late and in the wrong order give the plan once', async () => {
    const { webhooks } = shop.standIn;
    webhooks.mode = 'held';
    try {
      const user = await shop.foyer.addUser();
      const { customer } = await debit(user, accounts.succeeds);
      shop.standIn.engine.advance(5 * minuteMs);
      expect(await shop.planOf(user)).toBeNull();
      await webhooks.deliver({ order: (events) => events.toReversed(), twice: true });
      expect(await shop.planOf(user)).toBe('10');
      expect(await paidOf(customer)).toEqual([9_900]);
      expect((await templatesTo(user)).filter((template) => template === 'receipt')).toHaveLength(1);
    } finally {
      webhooks.drop();
      webhooks.mode = 'prompt';
    }
  });

  it('A second click while the bank has the debit charges nothing more', async () => {
    const user = await shop.foyer.addUser();
    const { customer } = await debit(user, accounts.succeedsLate);
    const announced = { planId: (await membershipOf(user))?.pending?.planId ?? ('' as never), dueCents: 9_900 };
    const again = await shop.foyer.app.membership.confirm(user, announced, { ip: '203.0.113.9' });
    expect(again).toMatchObject({ kind: 'processing', amountCents: 9_900 });
    await pass(5 * minuteMs);
    expect(await paidOf(customer)).toEqual([9_900]);
  });

  it('A higher plan by debit starts with the next period, and the paid plan stays until then', async () => {
    const user = await shop.foyer.addUser();
    const { browser, customer } = await debit(user, accounts.succeeds);
    await pass(5 * minuteMs);
    expect(await membershipPage(browser)).toContain('Change plan');
    const page = await (await browser.get(planPath('12'))).text();
    expect(wordsOf(page)).toContain('By bank debit a higher plan starts with the next period');
    expect((await press(browser, planPath('12'))).status).toBe(303);
    expect(await shop.planOf(user)).toBe('10');
    expect(await membershipOf(user)).toMatchObject({ nextPlanId: '12', pending: null });
    expect(await paidOf(customer)).toEqual([9_900]);
  });

  it('A renewal by debit keeps the plan for the days of the bank, and the failed one begins the grace period', async () => {
    const user = await shop.foyer.addUser();
    const { browser, customer } = await debit(user, accounts.succeeds);
    await pass(5 * minuteMs);
    const paymentMethodId = (await membershipOf(user))?.card?.paymentMethodId ?? '';
    shop.standIn.engine.setCardBehaviour(paymentMethodId, accounts.failsLate);
    const [subscription] = await subscriptionsOf(customer);
    const end = (subscription?.items.data[0]?.current_period_end ?? 0) * 1_000;
    shop.standIn.engine.advance(end - shop.standIn.engine.nowMs() + 1_000);
    await shop.standIn.webhooks.idle();
    expect(await shop.planOf(user)).toBe('10');
    expect(await membershipOf(user)).toMatchObject({ unpaid: null, pending: { debit: 'renewal' }, status: 'active' });
    expect(await membershipPage(browser)).toContain('You keep your plan meanwhile');
    expect(await templatesTo(user)).not.toContain('payment-failed');

    await pass(5 * minuteMs);
    expect(await membershipOf(user)).toMatchObject({ status: 'past_due', pending: null, unpaid: { why: 'failed' } });
    expect(await membershipPage(browser)).toContain('We couldn’t debit €99.00 from your bank account.');
    expect(await shop.planOf(user)).toBe('10');
    expect(await templatesTo(user)).toContain('payment-failed');
    const { db } = shop.foyer.deps.database;
    const told = await db.selectFrom('notifications').selectAll().orderBy('createdAt').execute();
    expect(told.filter(({ userId }) => userId === user.id).map(({ description }) => description)).toEqual([
      'Starter · €99.00',
      expect.stringContaining('We couldn’t debit your bank account'),
    ]);
    expect(await paidOf(customer)).toEqual([9_900]);
  });

  it('A member who cancels while the bank has the debit is not renewed', async () => {
    const user = await shop.foyer.addUser();
    const { customer } = await debit(user, accounts.succeedsLate);
    expect(await shop.foyer.app.membership.cancel(user)).toBe('cancelled');
    await pass(5 * minuteMs);
    const [subscription] = await subscriptionsOf(customer);
    expect(subscription).toMatchObject({ cancel_at_period_end: true });
    await pass(90 * dayMs);
    expect(await paidOf(customer)).toEqual([9_900]);
  });

  it('A member who deletes the account while the bank has the debit is not renewed', async () => {
    const user = await shop.foyer.addUser();
    const { browser, customer } = await debit(user, accounts.succeedsLate);
    expect((await askToLeave(browser)).headers.get('location')).toContain('/account-deletion');
    await pass(5 * minuteMs);
    await pass(90 * dayMs);
    expect((await paidOf(customer)).length).toBeLessThan(2);
    for (const { status } of await subscriptionsOf(customer)) expect(status).toBe('canceled');
  });

  it('The JSON API answers processing while the bank has the debit, refuses another plan, and then answers paid', async () => {
    const user = await shop.foyer.addUser();
    const { customer, upgrade } = await withAccount(user, accounts.succeedsLate);
    const waiting = { status: 'processing', planId: '10', amount: '99.00', starts_at: null, stripe_invoice_id: null };
    for (const _ of ['first', 'again']) {
      expect(await upgrade({})).toMatchObject({ status: 200, body: waiting });
      expect(await shop.planOf(user)).toBeNull();
    }
    const other = { plan_name: 'm-499', plan_amount: '499', amount: '499.00' };
    expect(await upgrade(other)).toMatchObject({ status: 409, body: { detail: 'A bank has an earlier debit' } });
    await pass(5 * minuteMs);
    expect(await upgrade({})).toMatchObject({ status: 200, body: { status: 'paid', amount: '99.00' } });
    expect(await paidOf(customer)).toEqual([9_900]);
  });

  it('A debit that is disputed after its payment leaves the plan until its period ends, and is not made again', async () => {
    const user = await shop.foyer.addUser();
    const { browser, customer } = await debit(user, accounts.disputed);
    await pass(5 * minuteMs);
    await pass(5 * minuteMs);
    expect(await paidOf(customer)).toEqual([9_900]);
    expect(await shop.planOf(user)).toBe('10');
    expect(await membershipOf(user)).toMatchObject({ cancelAtPeriodEnd: true });
    expect(await membershipPage(browser)).toContain('Disputed');
    await pass(60 * dayMs);
    expect(await paidOf(customer)).toEqual([9_900]);
    expect(await shop.planOf(user)).toBeNull();
  });

  it('A debit that pays a failed renewal keeps the plan for the days of the bank, and nothing else is sold meanwhile', async () => {
    const user = await shop.foyer.addUser();
    const { customer } = await debit(user, accounts.succeeds);
    await pass(5 * minuteMs);
    const { membership } = shop.foyer.app;
    const paymentMethodId = (await membershipOf(user))?.card?.paymentMethodId ?? '';
    shop.standIn.engine.setCardBehaviour(paymentMethodId, accounts.fails);
    await pass(31 * dayMs);
    expect(await membershipOf(user)).toMatchObject({ status: 'past_due', unpaid: { why: 'failed' } });
    shop.standIn.engine.setCardBehaviour(paymentMethodId, accounts.succeedsLate);

    expect(await membership.payUnpaid(user, from)).toMatchObject({ kind: 'processing', amountCents: 9_900 });
    expect(await membershipOf(user)).toMatchObject({ unpaid: null, pending: { debit: 'renewal' } });
    expect(await shop.planOf(user)).toBe('10');
    const growth = membership.catalogue.byCode('m-499');
    if (!growth) throw new Error('the catalogue has no m-499');
    const { plan } = await membership.choose(user, growth);
    expect(await membership.confirm(user, { planId: plan.id, dueCents: 0 }, from)).toEqual({ kind: 'debit-waiting' });
    await pass(5 * minuteMs);
    expect(await membershipOf(user)).toMatchObject({ status: 'active', unpaid: null, pending: null });
    expect(await shop.planOf(user)).toBe('10');
    expect(await paidOf(customer)).toEqual([9_900, 9_900]);
  });
});

it('Money that a bank debit has paid goes back to the bank account, and the page says so before', async () => {
  const plans = plansWith({ currency: 'eur', cancel: 'prorated', consumers: { withdrawalDays: 14 } });
  const shop = await openShop({ PAYMENT_METHODS: 'card,sepa_debit', PLANS_FILE: plans });
  try {
    shop.standIn.tell(shop.foyer.url);
    const user = await shop.foyer.addUser();
    await shop.customerOf(user);
    const { membership } = shop.foyer.app;
    const { details } = await membership.findDetails(user.id);
    await membership.saveDetails(user, { ...details, country: 'DE', postalCode: '10115' });
    const browser = await shop.foyer.signedIn(user);
    const begun = await beginMethodAt(browser, `${planPath('10')}/addPayment`);
    confirmMethod(shop, begun, { data: methodData.debit(accounts.succeeds) });
    await browser.post(begun.action, { ...begun.fields, setupIntent: begun.setupIntent });
    shop.standIn.engine.advance(5 * minuteMs);
    await shop.standIn.webhooks.idle();
    await membership.work();
    expect(await shop.planOf(user)).toBe('10');
    const wordsAt = async (path: string) => wordsOf(await (await browser.get(`/settings/membership/${path}`)).text());
    expect(await wordsAt('cancel')).toMatch(/We give €\d+\.\d\d back to your bank account: that’s the part/);
    expect(await wordsAt('withdraw')).toContain('We give €99.00 back to your bank account.');
  } finally {
    await shop.close();
  }
});
