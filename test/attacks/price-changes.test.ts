import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { beginMethodAt, confirmMethod, methodData } from '../billing/checkout/card-steps.ts';
import { mainForm, openShop } from '../billing/checkout/shop.ts';
import { berlin, enter } from '../billing/details-steps.ts';
import { cards, dayMs, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { startTaxedShop } from '../billing/tax-steps.ts';
import { fieldsIn } from '../billing/year-with-refund-steps.ts';
import type { Browser } from '../support/browser.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';

const path = '/plan-purchase/10';
const cancelPath = '/settings/membership/cancel';

const ordersOf = (shop: Pick<Shop, 'foyer'>, { id }: User) => listOrders(shop.foyer.deps.database.db, id);
const chargesOf = async (shop: Shop, user: User) => (await ordersOf(shop, user)).map(({ paidCents }) => paidCents);

/** A member in a place without tax, and the form that announces the amount without it. */
describe('attacks on tax between the page and the payment', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTaxedShop('exclusive');
  });
  afterAll(() => shop?.close());

  const untaxed = { country: 'HK', postal_code: '' };
  async function visitor(details: Record<string, string>): Promise<{ user: User; browser: Browser }> {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    await shop.saveCard(user);
    const browser = await shop.foyer.signedIn(user);
    await enter(browser, details);
    return { user, browser };
  }
  const formAt = async (browser: Browser) => mainForm(await (await browser.get(path)).text()).fields;

  it('A place with tax that is entered after the page charges nothing for the amount without tax', async () => {
    const { user, browser } = await visitor(untaxed);
    const form = await formAt(browser);
    expect(form).toMatchObject({ dueCents: '9900' });
    await enter(browser, berlin);
    expect((await browser.post(path, form)).status).toBe(409);
    expect(await chargesOf(shop, user)).toEqual([]);
    expect((await browser.post(path, await formAt(browser))).status).toBe(303);
    expect(await chargesOf(shop, user)).toEqual([11_781]);
  });

  it('A place that is changed while the purchase is confirmed leads to the announced amount or to none', async () => {
    for (const [before, after] of [
      [untaxed, berlin],
      [berlin, untaxed],
    ] as const) {
      const { user, browser } = await visitor(before);
      const form = await formAt(browser);
      await Promise.all([enter(browser, after), browser.post(path, form), enter(browser, after)]);
      const charges = await chargesOf(shop, user);
      expect([[], [Number(form.dueCents)]]).toContainEqual(charges);
    }
  });

  it('A VAT id of another country that is entered after the page does not lower what the page announced', async () => {
    const { user, browser } = await visitor(berlin);
    const form = await formAt(browser);
    expect(form).toMatchObject({ dueCents: '11781' });
    await enter(browser, { company: 'Machines SARL', country: 'FR', postal_code: '75001', vat_id: 'FR 000 000 000' });
    expect((await browser.post(path, form)).status).toBe(409);
    expect(await chargesOf(shop, user)).toEqual([]);
  });

  it('A VAT id that the registry does not know saves no tax once its answer is there, neither now nor at the renewal', async () => {
    const invented = { country: 'FR', postal_code: '75001', vat_id: 'FR111111111' };
    shop.stripe.tell(shop.foyer.url);
    // The answer comes between the page and the button.
    shop.stripe.webhooks.mode = 'held';
    const early = await visitor(invented);
    const form = await formAt(early.browser);
    expect(form).toMatchObject({ dueCents: '9900' });
    await shop.stripe.webhooks.deliver();
    expect((await early.browser.post(path, form)).status).toBe(409);
    expect(await chargesOf(shop, early.user)).toEqual([]);
    // It comes after the payment.
    const late = await visitor(invented);
    expect((await late.browser.post(path, await formAt(late.browser))).status).toBe(303);
    await shop.stripe.webhooks.deliver();
    shop.passTime(31 * dayMs);
    await shop.membership.refresh(late.user.id);
    const [renewal, first] = await ordersOf(shop, late.user);
    expect([first?.paidCents, renewal?.paidCents]).toEqual([9_900, 11_880]);
  });
});

describe('attacks on the form of a purchase', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, {
      ...manyCards,
      PLANS_FILE: plansWith({ periods: 'days', cancel: 'prorated' }),
    });
  });
  afterAll(() => shop?.close());

  async function buyer(...codes: string[]): Promise<{ user: User; browser: Browser }> {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    await shop.saveCard(user);
    for (const code of codes) expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
    return { user, browser: await shop.foyer.signedIn(user) };
  }

  it.each([
    ['the cheap plan’s id and amount at the page of the expensive one', '14', { planId: '10', dueCents: '9900' }],
    ['the expensive plan’s id and the cheap amount', '14', { planId: '14', dueCents: '9900' }],
    ['the expensive plan’s id at the page of the cheap one', '10', { planId: '14', dueCents: '9900' }],
    ['a negative amount', '14', { planId: '14', dueCents: '-9900' }],
    ['no amount', '14', { planId: '14' }],
    ['two amounts', '14', { planId: '14', dueCents: '89900,9900' }],
    ['an amount in another notation', '14', { planId: '14', dueCents: '8.99e4' }],
  ])('A form with %s charges nothing and gives nothing', async (_name, page, form) => {
    const { user, browser } = await buyer();
    for (const at of [`/plan-purchase/${page}`, `/plan-purchase/${page}/addPayment`]) {
      await browser.get(at);
      const answer = await browser.post(at, { ...form, ...(at.endsWith('t') && { act: '' }) });
      expect(answer.status).toBeGreaterThanOrEqual(303);
    }
    expect(await chargesOf(shop, user)).toEqual([]);
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('The page before a purchase, sent again after it, charges nothing and changes nothing', async () => {
    const { user, browser } = await buyer();
    const html = await (await browser.get(path)).text();
    const { action, fields } = mainForm(html);
    expect((await browser.post(action, fields)).status).toBe(303);
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    const before = await chargesOf(shop, user);
    // Going back: the form of the cheaper plan.
    await (await shop.foyer.signedIn(user)).post(action, fields);
    expect(await chargesOf(shop, user)).toEqual(before);
    expect((await shop.userNow(user)).planId).toBe('12');
    expect(await shop.membership.refresh(user.id)).toMatchObject({ nextPlanId: null, cancelAtPeriodEnd: false });
  });

  it('An upgrade that waits for the bank while the plan is cancelled with a refund does not leave both', async () => {
    const { user, browser } = await buyer('m-99');
    const announced = fieldsIn(await (await browser.get(cancelPath)).text());
    await shop.saveCard(user, cards.authenticatesAlways);
    const asked = await shop.buy(user, 'm-499');
    if (asked.kind !== 'action') throw new Error(asked.kind);
    await browser.post(cancelPath, announced);
    try {
      shop.stripe.engine.authenticate(asked.clientSecret.split('_secret_')[0] ?? '', 'succeed');
    } catch {
      // The payment is gone.
    }
    await shop.membership.outcome(user);
    shop.passTime(3 * 60_000);
    await shop.membership.work();
    await shop.membership.refresh(user.id);
    const orders = await ordersOf(shop, user);
    const [paid, back] = (['paidCents', 'refundedCents'] as const).map((key) =>
      orders.reduce((sum, order) => sum + order[key], 0),
    );
    // Either the plan was given back, or the upgrade was paid.
    const outcome = { planId: (await shop.userNow(user)).planId, kept: (paid ?? 0) - (back ?? 0) };
    expect([
      { planId: null, kept: 9_900 - Number(announced.refundCents) },
      { planId: '12', kept: 49_900 },
    ]).toContainEqual(outcome);
  });

  it('Changing up, down, cancelling and resuming in a loop never costs less than the highest plan that was used', async () => {
    const { user } = await buyer('m-99');
    for (let round = 0; round < 3; round += 1) {
      expect(await shop.buy(user, round === 0 ? 'm-499' : 'm-99')).toMatchObject({
        kind: round === 0 ? 'paid' : 'scheduled',
      });
      await shop.membership.cancel(user);
      await shop.membership.resume(user);
      await shop.buy(user, 'm-99');
      await shop.membership.resume(user);
    }
    expect((await chargesOf(shop, user)).reduce((sum, cents) => sum + cents, 0)).toBe(49_900);
    shop.passTime(31 * dayMs);
    await shop.membership.refresh(user.id);
    expect((await ordersOf(shop, user))[0]).toMatchObject({ planId: '12', paidCents: 49_900 });
  });

  it('Buying and cancelling with a refund in a loop gives back no more than was paid, and leaves no credit', async () => {
    const { user } = await buyer('m-99');
    for (let round = 0; round < 3; round += 1) {
      shop.passTime(2 * dayMs);
      const browser = await shop.foyer.signedIn(user);
      const form = fieldsIn(await (await browser.get(cancelPath)).text());
      await Promise.all([browser.post(cancelPath, form), browser.post(cancelPath, form)]);
      expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    }
    const orders = await ordersOf(shop, user);
    expect(orders.map(({ paidCents }) => paidCents)).toEqual([9_900, 9_900, 9_900, 9_900]);
    // Two of thirty days are paid each time.
    for (const { refundedCents } of orders.slice(1)) expect(Math.abs(refundedCents - 9_240)).toBeLessThan(2);
    expect((await shop.membership.refresh(user.id))?.balanceCents).toBe(0);
  });
});

describe('attacks on a renewal by debit', () => {
  it('A cancellation with a refund gives nothing of a renewal back that the bank has not paid', async () => {
    const plans = plansWith({ currency: 'eur', periods: 'days', cancel: 'prorated' });
    const shop = await openShop({ PAYMENT_METHODS: 'card,sepa_debit', PLANS_FILE: plans });
    try {
      shop.standIn.tell(shop.foyer.url);
      const user = await shop.foyer.addUser();
      const customer = await shop.customerOf(user);
      const browser = await shop.foyer.signedIn(user);
      const begun = await beginMethodAt(browser, `${path}/addPayment`);
      confirmMethod(shop, begun, { data: methodData.debit('AT611904300234573201') });
      await browser.post(begun.action, { ...begun.fields, setupIntent: begun.setupIntent });
      await shop.standIn.webhooks.idle();
      shop.standIn.engine.advance(5 * 60_000);
      await shop.standIn.webhooks.idle();
      expect(await shop.planOf(user)).toBe('10');
      const [subscription] = (await shop.stripe.subscriptions.list({ customer })).data;
      const end = (subscription?.items.data[0]?.current_period_end ?? 0) * 1_000;
      shop.standIn.engine.advance(end - shop.standIn.engine.nowMs() + 1_000);
      await shop.standIn.webhooks.idle();
      const form = fieldsIn(await (await browser.get(cancelPath)).text());
      await browser.post(cancelPath, form);
      await browser.post(cancelPath, { refundCents: '9900', creditCents: '0' });
      expect((await shop.stripe.creditNotes.list({ customer })).data).toEqual([]);
    } finally {
      await shop.close();
    }
  });
});
