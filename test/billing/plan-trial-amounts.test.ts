import { standing } from '../account/membership-steps.ts';
import { anyBackend } from '../support/stores.ts';
import { accounts, methodData } from './checkout/card-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { atStripe, charges, hourMs, openAct, pass } from './pause-steps.ts';
import {
  forgetCards,
  type Member,
  member,
  order,
  planPage,
  plansWithTrials,
  startTrialShop,
} from './plan-trial-steps.ts';
import { cards, from, manyCards, type Shop, startShop } from './steps.ts';

const dayMs = 24 * hourMs;

/** Does what Stripe.js does with an account that was typed. @returns the setup intent's id */
function confirmAccount(
  { stripe }: Shop,
  { clientSecret, setupIntentId: id }: { clientSecret: string; setupIntentId: string },
): string {
  const data = { client_secret: clientSecret, payment_method_data: methodData.debit(accounts.succeeds) };
  stripe.engine.call({ method: 'POST', path: `/v1/setup_intents/${id}/confirm`, params: data, as: 'publishable' });
  return id;
}

describe('the first charge after free days', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTrialShop();
    const library = shop.stripe.client();
    await library.coupons.create({ id: 'tenth', percent_off: 10, duration: 'once' });
    await library.promotionCodes.create({ code: 'TENTH', promotion: { type: 'coupon', coupon: 'tenth' } });
    await library.coupons.create({ id: 'five', amount_off: 500, currency: 'usd', duration: 'forever' });
    await library.promotionCodes.create({ code: 'FIVE', promotion: { type: 'coupon', coupon: 'five' } });
    await library.coupons.create({ id: 'all', percent_off: 100, duration: 'once' });
    await library.promotionCodes.create({ code: 'ALL', promotion: { type: 'coupon', coupon: 'all' } });
  });
  afterAll(() => shop?.close());
  beforeEach(() => forgetCards(shop));

  const applyCode = ({ browser }: Member, promo: string) =>
    browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo });
  const toEnd = async ({ user }: Member) => pass(shop, ((await standing(shop, user)).triedUntil ?? 0) + 2 * hourMs);

  it('A code that is used once takes its part off the first charge, and the page names the amounts of both', async () => {
    const who = await member(shop);
    await applyCode(who, 'TENTH');
    const { words, fields } = await planPage(who.browser);
    expect(fields).toMatchObject({ dueCents: '0', laterCents: '8910/9900' });
    expect(words).toMatch(/First payment on \w+ \d+, \d{4} \$89\.10 /);
    expect(words).toMatch(/Start free trial – then pay \$89\.10 on/);
    await order(who.browser);
    const { nextCharge, triedUntil } = await standing(shop, who.user);
    expect(nextCharge).toMatchObject({ amountCents: 8_910, regularCents: 9_900, at: triedUntil });
    await toEnd(who);
    expect(await charges(shop, who.user)).toEqual([8_910]);
    await pass(shop, ((await standing(shop, who.user)).periodEnd ?? 0) + 2 * hourMs);
    expect(await charges(shop, who.user)).toEqual([8_910, 9_900]);
  });

  it('The day that a page names for the end of a discount is that of the second charge', async () => {
    const who = await member(shop);
    await applyCode(who, 'TENTH');
    const { words, fields } = await planPage(who.browser);
    const said = /The discount ends on (\w+ \d+, \d{4}); after that, \$99\.00/.exec(words)?.[1] ?? '';
    await who.browser.post('/plan-purchase/10', fields);
    await toEnd(who);
    const second = (await standing(shop, who.user)).periodEnd ?? 0;
    expect(Date.parse(`${said} UTC`)).toBe(second - (second % dayMs));
  });

  it('A fixed discount without an end, and credit, are in the announced amount', async () => {
    const who = await member(shop);
    const { customerId } = await standing(shop, who.user);
    await shop.stripe.client().customers.update(customerId ?? '', { balance: -700 });
    await shop.membership.refresh(who.user.id);
    await applyCode(who, 'FIVE');
    expect((await planPage(who.browser)).words).toMatch(/First payment on \w+ \d+, \d{4} \$87\.00 /);
    await order(who.browser);
    await toEnd(who);
    expect(await charges(shop, who.user)).toEqual([8_700]);
  });

  it('A first charge that a code pays whole gives the plan, and the next one is announced', async () => {
    const who = await member(shop);
    await applyCode(who, 'ALL');
    const { words } = await planPage(who.browser);
    expect(words).toMatch(/Start free trial – then pay \$99\.00 a month from/);
    await order(who.browser);
    await toEnd(who);
    expect(await charges(shop, who.user)).toEqual([0]);
    expect((await shop.userNow(who.user)).planId).toBe('10');
  });

  it('An amount that changes after the page was opened begins nothing, and the page names the new one', async () => {
    const who = await member(shop);
    const { fields } = await planPage(who.browser);
    const { customerId } = await standing(shop, who.user);
    await shop.stripe.client().customers.update(customerId ?? '', { balance: -100 });
    await shop.membership.refresh(who.user.id);
    expect((await who.browser.post('/plan-purchase/10', fields)).status).toBe(409);
    expect((await atStripe(shop, who.user)).metadata).not.toHaveProperty('foyer_trial');
  });

  it('A bank that asks at the first charge leaves the plan resting until the member has answered', async () => {
    const who = await member(shop, { card: cards.authenticatesAlways });
    await order(who.browser);
    expect((await shop.userNow(who.user)).planId).toBe('10');
    await toEnd(who);
    expect((await shop.userNow(who.user)).planId).toBeNull();
    expect((await standing(shop, who.user)).unpaid).toMatchObject({ withoutGrace: true });
    expect(await charges(shop, who.user)).toEqual([]);
  });

  it('A renewal that fails after a paid first charge has its grace', async () => {
    const who = await member(shop);
    await order(who.browser);
    await toEnd(who);
    const method = (await standing(shop, who.user)).card?.paymentMethodId ?? '';
    shop.stripe.engine.setCardBehaviour(method, cards.chargeDeclined);
    await pass(shop, ((await standing(shop, who.user)).periodEnd ?? 0) + 3 * hourMs);
    expect((await standing(shop, who.user)).unpaid).not.toHaveProperty('withoutGrace');
    expect((await shop.userNow(who.user)).planId).toBe('10');
  });

  it('A plan that was tried can be resumed at the announced amount alone', async () => {
    const who = await member(shop);
    await order(who.browser);
    await who.browser.post('/settings/membership/cancel', {});
    const { html, fields } = await openAct(who.browser, 'resume');
    expect(html).toMatch(/The first payment of \S+ is on/);
    const { customerId } = await standing(shop, who.user);
    await shop.stripe.client().customers.update(customerId ?? '', { balance: -300 });
    await shop.membership.refresh(who.user.id);
    expect((await who.browser.post('/settings/membership/resume', fields)).status).toBe(409);
    await toEnd(who);
    expect(await charges(shop, who.user)).toEqual([]);
  });
});

describe('free days where tax is added and consumers buy', () => {
  it('The first charge has its tax, nothing is announced without a place, and there is no withdrawal after it', async () => {
    const shop = await startTrialShop(
      {},
      {
        consumers: { withdrawalDays: 14 },
        tax: { automatic: true, behaviour: 'exclusive' },
        days: { 'm-99': 14 },
      },
    );
    try {
      const who = await member(shop);
      const { details } = await shop.membership.findDetails(who.user.id);
      await shop.membership.saveDetails(who.user, { ...details, country: 'DE', postalCode: '10115' });
      const { words } = await planPage(who.browser);
      expect(words).toMatch(/First payment on \w+ \d+, \d{4} \$117\.81 /);
      expect(words).not.toContain('You can withdraw');
      await order(who.browser);
      expect((await atStripe(shop, who.user)).automatic_tax.enabled).toBe(true);
      expect(await shop.membership.findWithdrawal(who.user.id)).toBeUndefined();
      await pass(shop, ((await standing(shop, who.user)).triedUntil ?? 0) + 2 * hourMs);
      expect(await charges(shop, who.user)).toEqual([11_781]);
      expect(await shop.membership.findWithdrawal(who.user.id)).toBeUndefined();
      expect(await shop.membership.reconcile()).toMatchObject({ repaired: [], left: [] });
    } finally {
      await shop.close();
    }
  });
});

describe('free days where accounts are debited, too', () => {
  it('A member who pays by debit begins without them, and the page names what is due today before anything is charged', async () => {
    const file = plansWithTrials({ currency: 'eur' });
    const shop = await startShop(anyBackend, { ...manyCards, PAYMENT_METHODS: 'card,sepa_debit', PLANS_FILE: file });
    try {
      const { user, browser } = await member(shop, { card: null });
      const { fields } = await planPage(browser);
      await browser.get('/plan-purchase/10/addPayment');
      const begun = await shop.membership.beginCard(user, from);
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      const answer = await browser.post('/plan-purchase/10/addPayment', {
        ...fields,
        act: 'save-card',
        setupIntent: confirmAccount(shop, begun),
      });
      expect(answer.status).toBe(409);
      const words = wordsOf(await answer.text());
      expect(words).toContain('Free days need a card');
      expect(words).toContain('Due today €99.00');
      expect(await charges(shop, user)).toEqual([]);
      expect((await atStripe(shop, user)).metadata).not.toHaveProperty('foyer_trial');
    } finally {
      await shop.close();
    }
  });
});
