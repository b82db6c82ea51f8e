import { billingDataSource } from '../../server/billing/index.ts';
import { page, path, standing } from '../account/membership-steps.ts';
import { toPlanId } from '../support/ids.ts';
import { readCardForm } from './checkout/card-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { atStripe, charges, hourMs, pass } from './pause-steps.ts';
import {
  forgetCards,
  type Member,
  member,
  order,
  planPage,
  startTrialShop,
  templates,
  trier,
} from './plan-trial-steps.ts';
import { cards, from, type Shop } from './steps.ts';

const minuteMs = 60_000;
const payment = '/plan-purchase/10/addPayment';

describe('attacks on plans that begin with free days', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTrialShop();
  });
  afterAll(() => shop?.close());
  beforeEach(() => forgetCards(shop));

  const isOffered = async ({ browser }: Member, id = '10') => 'trialEnd' in (await planPage(browser, id)).fields;
  const isTrying = async ({ user }: Member) => (await atStripe(shop, user)).metadata.foyer_trial !== undefined;

  /** Enters a card on the page of the payment, and presses its button. */
  async function enterCard({ user, browser }: Member, number: string): Promise<Response> {
    const html = await (await browser.get(payment)).text();
    const { fields } = readCardForm(html);
    return browser.post(payment, { ...fields, setupIntent: await shop.confirmCard(user, number) });
  }

  it('A second trial by another mailbox with the same card is none: the page says so, names the amount, and charges nothing', async () => {
    const first = await member(shop, { card: null });
    expect((await enterCard(first, cards.mastercard)).headers.get('location')).toBe('/signup/completed/m-99');
    expect(await isTrying(first)).toBe(true);
    const second = await member(shop, { card: null });
    expect(await isOffered(second)).toBe(true);
    const answer = await enterCard(second, cards.mastercard);
    expect(answer.status).toBe(409);
    const words = wordsOf(await answer.text());
    expect(words).toContain('A free trial has been started with this card before');
    expect(words).toContain('This card has had its free days');
    expect(words).toContain(
      'Starter begins today, without free days. $99.00 is due today, and charged when you confirm.',
    );
    expect(words).toContain('Due today $99.00');
    // The card is saved now: the page says so when it is opened again, too.
    expect(wordsOf(await (await second.browser.get(payment)).text())).toContain('This card has had its free days');
    expect(await charges(shop, second.user)).toEqual([]);
    expect(await isTrying(second)).toBe(false);
    expect(await isOffered(second)).toBe(false);
    // What it announces now is charged.
    await order(second.browser);
    expect(await charges(shop, second.user)).toEqual([9_900]);
  });

  it('The page that refuses free days with a used card names no other free trial above that', async () => {
    const who = await member(shop, { days: 30 });
    const { fields, words } = await planPage(who.browser);
    expect(words).toContain('free trial of Basic');
    const first = await member(shop, { card: null });
    await shop.saveCard(first.user);
    await order(first.browser);
    expect(await isTrying(first)).toBe(true);
    const refused = wordsOf(await (await who.browser.post('/plan-purchase/10', fields)).text());
    const [above = '', below] = refused.split('A free trial has been started with this card before');
    expect(above).not.toContain('free trial of Basic');
    // The trial that ends instead is named at the total.
    expect(below).toContain('Your free trial of Basic ends today.');
  });

  it('A plus tag or dots at Google are the same mailbox', async () => {
    await trier(shop, { email: 'plan.trier@gmail.com' });
    await forgetCards(shop);
    for (const email of ['plantrier+2@gmail.com', 'plan.trier+x@googlemail.com'])
      expect(await isOffered(await member(shop, { email }))).toBe(false);
    expect(await isOffered(await member(shop, { email: 'plan.trier@example.org' }))).toBe(true);
  });

  it('After the deletion of the account neither the mailbox nor the card has another one', async () => {
    const email = 'deleted@example.org';
    const { user } = await trier(shop, { email, card: cards.visa });
    const { database } = shop.foyer.deps;
    await database.transaction((trx) => billingDataSource(database).erase(trx, user, shop.foyer.deps.now()));
    await database.db.deleteFrom('users').where('id', '=', user.id).execute();
    expect(await isOffered(await member(shop, { email, card: null }))).toBe(false);
    expect(await isOffered(await member(shop, { card: cards.visa }))).toBe(false);
    expect(await isOffered(await member(shop, { card: cards.mastercard }))).toBe(true);
  });

  it('Two tabs at once begin one trial', async () => {
    const who = await member(shop);
    const { fields } = await planPage(who.browser);
    const press = () => who.browser.post('/plan-purchase/10', fields);
    for (const answer of await Promise.all([press(), press(), press()]))
      expect(answer.headers.get('location')).toBe('/signup/completed/m-99');
    expect(await charges(shop, who.user)).toEqual([]);
    expect(await isTrying(who)).toBe(true);
    expect((await templates(shop, who.user)).filter((one) => one === 'plan-trial-began')).toHaveLength(1);
  });

  it('Of two members who begin with one card at once, one gets the trial', async () => {
    const both = [await member(shop, { card: cards.visa }), await member(shop, { card: cards.visa })];
    const pages = await Promise.all(both.map(({ browser }) => planPage(browser)));
    expect(pages.every(({ fields }) => 'trialEnd' in fields)).toBe(true);
    const answers = await Promise.all(
      both.map(({ browser }, at) => browser.post('/plan-purchase/10', pages[at]?.fields ?? {})),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409]);
    expect((await Promise.all(both.map(isTrying))).filter(Boolean)).toHaveLength(1);
    for (const { user } of both) expect(await charges(shop, user)).toEqual([]);
  });

  it.each([
    ['more days than are offered', (end: number) => String(end + 24 * hourMs)],
    ['a few minutes more', (end: number) => String(end + 5 * 60_000)],
    ['fewer days', (end: number) => String(end - 24 * hourMs)],
    ['no number', () => '14 days'],
    ['an endless one', () => '9'.repeat(15)],
    ['none', () => ''],
  ])('A forged form that asks for %s begins nothing and charges nothing', async (_what, toEnd) => {
    const who = await member(shop);
    const { fields } = await planPage(who.browser);
    const answer = await who.browser.post('/plan-purchase/10', { ...fields, trialEnd: toEnd(Number(fields.trialEnd)) });
    expect(answer.status).toBe(409);
    expect(wordsOf(await answer.text())).toContain('Something has changed since this page was opened');
    expect(await isTrying(who)).toBe(false);
    expect(await charges(shop, who.user)).toEqual([]);
  });

  it('A forged form that asks for a trial where none is offered begins none', async () => {
    const who = await member(shop);
    const { fields: other } = await planPage(who.browser);
    expect(await isOffered(who, '13')).toBe(false);
    const { fields } = await planPage(who.browser, '13');
    for (const dueCents of ['0', fields.dueCents ?? '']) {
      const forged = { ...fields, trialEnd: other.trialEnd ?? '', dueCents };
      expect((await who.browser.post('/plan-purchase/13', forged)).status).toBe(409);
    }
    expect(await charges(shop, who.user)).toEqual([]);
    expect((await atStripe(shop, who.user)).items.data[0]?.price.unit_amount).toBe(0);
  });

  it('A page that has been open for longer than half an hour begins nothing, and names the new day', async () => {
    const who = await member(shop, { days: 30 });
    const { fields } = await planPage(who.browser);
    shop.passTime(31 * minuteMs);
    expect((await who.browser.post('/plan-purchase/10', fields)).status).toBe(409);
    shop.passTime(0);
    const fresh = await planPage(who.browser);
    shop.passTime(20 * minuteMs);
    await who.browser.post('/plan-purchase/10', fresh.fields);
    // The announced day, not one that has moved with the clock.
    expect((await standing(shop, who.user)).triedUntil).toBe(Number(fresh.fields.trialEnd));
  });

  it('Canceled, the plan is not free again: neither during the trial, nor after it, nor another plan', async () => {
    const who = await trier(shop);
    await who.browser.post(`${path}/cancel`, {});
    expect(await isOffered(who, '12')).toBe(false);
    await pass(shop, ((await standing(shop, who.user)).triedUntil ?? 0) + 2 * hourMs);
    expect((await shop.userNow(who.user)).planId).toBeNull();
    for (const id of ['10', '12']) expect(await isOffered(who, id)).toBe(false);
    const { words } = await planPage(who.browser);
    expect(words).toContain('Pay $99.00');
    await order(who.browser);
    expect(await charges(shop, who.user)).toEqual([9_900]);
  });

  it.each([
    ['during the first trial', 0],
    ['when it is over', 8],
  ])('A member who owes something begins no trial, %s', async (_when, days) => {
    const who = await member(shop);
    await pass(shop, shop.stripe.engine.nowMs() + days * 24 * hourMs);
    const { customerId } = await standing(shop, who.user);
    await shop.stripe.client().customers.update(customerId ?? '', { balance: 700 });
    await shop.membership.refresh(who.user.id);
    expect(await isOffered(who)).toBe(false);
    expect((await planPage(who.browser)).words).toContain('Due today $106.00');
  });

  it('A member who has paid for a plan once begins without a trial', async () => {
    const who = await member(shop);
    await order(who.browser, '13');
    expect(await charges(shop, who.user)).toHaveLength(1);
    expect(await isOffered(who)).toBe(false);
    await shop.stripe.client().subscriptions.cancel((await standing(shop, who.user)).subscriptionId ?? '');
    await shop.membership.refresh(who.user.id);
    expect(await isOffered(who)).toBe(false);
  });

  it('A deleted account is never charged for its trial', async () => {
    const who = await trier(shop);
    const end = (await standing(shop, who.user)).triedUntil ?? 0;
    const { customerId } = await standing(shop, who.user);
    const { database } = shop.foyer.deps;
    await database.transaction((trx) => billingDataSource(database).erase(trx, who.user, shop.foyer.deps.now()));
    await pass(shop, end + 3 * 24 * hourMs);
    const { data } = await shop.stripe.client().invoices.list({ customer: customerId ?? '' });
    expect(data.filter(({ amount_paid: paid }) => paid > 0)).toEqual([]);
  });

  it('A free plan that is taken during the trial ends it without a charge', async () => {
    const who = await trier(shop);
    const free = shop.membership.catalogue.byId(toPlanId('1'));
    if (!free) throw new Error('there is no free plan');
    expect(await shop.membership.takeFree(who.user, free)).toMatchObject({ kind: 'scheduled' });
    await pass(shop, ((await standing(shop, who.user)).triedUntil ?? 0) + 2 * hourMs);
    expect(await charges(shop, who.user)).toEqual([]);
    expect((await shop.userNow(who.user)).planId).toBe('1');
  });

  it('Canceled by a mailed link, without a sign-in, it is never charged', async () => {
    const who = await trier(shop);
    const visitor = shop.foyer.browser();
    await visitor.post('/cancel-membership', { email: who.user.email });
    const mail = (await shop.foyer.mails(who.user.email)).find(({ template }) => template === 'cancel-link');
    const { cancelUrl } = (mail?.values ?? {}) as { cancelUrl?: string };
    const link = new URL(cancelUrl ?? '', shop.foyer.url);
    expect(wordsOf(await (await visitor.get(link.pathname + link.search)).text())).toContain('Starter, monthly');
    await visitor.post(link.pathname, { token: link.searchParams.get('token') ?? '' });
    expect(await standing(shop, who.user)).toMatchObject({ cancelAtPeriodEnd: true });
    await pass(shop, ((await standing(shop, who.user)).triedUntil ?? 0) + 2 * hourMs);
    expect(await charges(shop, who.user)).toEqual([]);
  });

  it('The JSON API sells without a trial, at the amount that its caller names', async () => {
    const who = await member(shop);
    const plan = shop.plan('m-99');
    await shop.membership.choose(who.user, plan);
    expect(await shop.membership.quote(who.user, plan, null)).toMatchObject({ dueCents: 9_900 });
    expect(await shop.membership.confirm(who.user, { planId: plan.id, dueCents: 9_900 }, from)).toMatchObject({
      kind: 'paid',
    });
    expect(await charges(shop, who.user)).toEqual([9_900]);
  });

  it('Gift codes are refused during the trial, and its page offers neither a pause nor seats', async () => {
    const who = await trier(shop);
    const shown = await page(who.browser);
    expect(shown).toContain('Cancel membership');
    for (const act of ['Pause membership', 'Change seats', 'Redeem a gift code']) expect(shown).not.toContain(act);
  });
});
