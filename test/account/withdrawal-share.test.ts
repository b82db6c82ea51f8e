import { listOrders } from '../../server/billing/index.ts';
import { languages, translator } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { saveCardAt } from '../billing/checkout/card-steps.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { fieldsWith } from '../billing/order-form.ts';
import { cards, dayMs, from, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';

const path = '/settings/membership/withdraw';
const begins = { beginsAtOnce: '1' };
const prorated = plansWith({ periods: 'days', consumers: { withdrawalDays: 14, refund: 'prorated' } });

describe('a withdrawal that keeps the share of the days', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: prorated });
  });
  afterAll(() => shop?.close());

  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);
  const mailOf = async ({ email }: User, name: string) =>
    (await shop.foyer.mails(email)).find(({ template }) => template === name);
  /** What the member has paid at Stripe, less what was given back, in cents. */
  async function keptAtStripe(user: User): Promise<number> {
    const customer = (await shop.membership.getMembership(user.id))?.customerId ?? '';
    const stripe = shop.stripe.client();
    const [invoices, notes] = [await stripe.invoices.list({ customer }), await stripe.creditNotes.list({ customer })];
    const paid = invoices.data.reduce((sum, { amount_paid: cents }) => sum + cents, 0);
    return notes.data.reduce((sum, { amount }) => sum - amount, paid);
  }

  /** A member with a card and an address, at the page of a plan. */
  async function visitor(number: string = cards.visa) {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, number);
    const browser = await shop.foyer.signedIn(user);
    await browser.post('/plan-purchase/10/billingDetails', { country: 'DE', postal_code: '10115' });
    return { user, browser };
  }
  async function buyer(plan = '10', asked: Record<string, string> = begins) {
    const { user, browser } = await visitor();
    const page = `/plan-purchase/${plan}`;
    await browser.post(page, { ...fieldsWith(await (await browser.get(page)).text(), 'dueCents'), ...asked });
    return { user, browser };
  }

  it('The page of a plan says what a withdrawal costs, and asks for the request, which nothing ticks', async () => {
    const { browser } = await visitor();
    const html = await (await browser.get('/plan-purchase/10')).text();
    const words = wordsOf(html);
    expect(words).toContain('You can withdraw within 14 days. If you withdraw, you pay only for the days until then.');
    expect(words).toContain('I ask that my plan begins right away.');
    const box = /<input[^>]*name="beginsAtOnce"[^>]*>/.exec(html)?.[0] ?? '';
    expect(box).toMatch(/type="checkbox"/);
    expect(box).not.toMatch(/checked/);
  });

  it('Without the request nothing is charged, and the page says why; with it the order has its time and wording', async () => {
    const { user, browser } = await visitor();
    const page = '/plan-purchase/10';
    const fields = fieldsWith(await (await browser.get(page)).text(), 'dueCents');
    const refused = await browser.post(page, fields);
    expect(refused.status).toBe(400);
    expect(wordsOf(await refused.text())).toContain('Please tick this box.');
    expect(await keptAtStripe(user)).toBe(0);
    await browser.post(page, { ...fields, ...begins });
    expect(await keptAtStripe(user)).toBe(9_900);
    const [order] = await orders(user);
    expect(order).toMatchObject({ paidCents: 9_900, beginWording: '1-en', beginRequestedAt: expect.any(Number) });
    expect(Math.abs((order?.beginRequestedAt ?? 0) - (order?.orderedAt ?? 0))).toBeLessThan(60_000);
    // The plan's column has the note, not the amount's.
    expect(wordsOf(await (await browser.get('/settings/membership')).text())).toMatch(
      /New plan Begun right away at your request of \w+ \d+, \d{4} \$99\.00/,
    );
    expect((await mailOf(user, 'receipt'))?.text).toContain('Begins right away, at your request of');
  });

  it.each([
    ['on the first day', 0.5, 0],
    ['on the second day', 1.5, 330],
    ['on the fourteenth day', 13.5, 4_290],
  ])('A withdrawal %s gives back what its page has named', async (_name, days, kept) => {
    const { user } = await buyer();
    shop.passTime(days * dayMs);
    const browser = await shop.foyer.signedIn(user);
    const html = await (await browser.get(path)).text();
    const money = (cents: number) => `$${(cents / 100).toFixed(2)}`;
    expect(wordsOf(html)).toContain(`We give ${money(9_900 - kept)} back to your card.`);
    if (kept > 0) expect(wordsOf(html)).toContain(`We keep ${money(kept)} for ${Math.floor(days)} of 30 days`);
    expect((await browser.post(path, fieldsWith(html, 'days'))).headers.get('location')).toContain('withdrawn');
    expect(await keptAtStripe(user)).toBe(kept);
    expect(await orders(user)).toMatchObject([{ refundedCents: 9_900 - kept }]);
    expect((await shop.userNow(user)).planId).toBeNull();
    const received = await mailOf(user, 'withdrawal-received');
    expect(received?.values).toMatchObject({ amountCents: 9_900 - kept });
    if (kept > 0) expect(received?.text).toContain(`We keep: ${money(kept)} for ${Math.floor(days)} of 30 days`);
    else expect(received?.text).not.toContain('We keep');
  });

  it('On the fifteenth day there is no withdrawal', async () => {
    const { user } = await buyer();
    shop.passTime(14.5 * dayMs);
    const browser = await shop.foyer.signedIn(user);
    expect((await browser.post(path, { days: '13' })).headers.get('location')).toContain('nothing');
    expect(await keptAtStripe(user)).toBe(9_900);
    expect((await shop.userNow(user)).planId).toBe('10');
  });

  it('The page of a card asks for the request, and refuses an order without it; the card stays', async () => {
    const user = await shop.foyer.addUser();
    const browser = await shop.foyer.signedIn(user);
    await browser.get('/plan-purchase/10');
    await browser.post('/plan-purchase/10/billingDetails', { country: 'DE', postal_code: '10115' });
    const page = '/plan-purchase/10/addPayment';
    await browser.post(
      '/plan-purchase/10',
      fieldsWith(await (await browser.get('/plan-purchase/10')).text(), 'dueCents'),
    );
    const form = /<form [^>]*id="pay".*?<\/form>/s.exec(await (await browser.get(page)).text())?.[0] ?? '';
    const box = /<input[^>]*name="beginsAtOnce"[^>]*>/.exec(form)?.[0];
    expect(box).toContain('required=""');
    // Below the fields, right above the button: nothing that can have the focus is between them.
    expect(form).toMatch(/name="zip".*name="beginsAtOnce"/s);
    expect(form.split('name="beginsAtOnce"')[1]).toMatch(
      /^(?:(?!<(?:input|a|button)\b).)*<button(?:(?!<(?:input|a|button)\b).)*$/s,
    );
    expect(box).not.toMatch(/checked/);
    const refused = await saveCardAt({ standIn: shop.stripe }, browser, page, cards.visa);
    expect(refused.status).toBe(400);
    const html = await refused.text();
    expect(wordsOf(html)).toContain('Please tick this box.');
    expect(await keptAtStripe(user)).toBe(0);
    await browser.post(page, { ...fieldsWith(html, 'dueCents'), ...begins });
    expect(await keptAtStripe(user)).toBe(9_900);
    expect(await orders(user)).toMatchObject([{ beginWording: '1-en' }]);
  });

  it('The wording of version 1 is the same in every language', () => {
    // Another text gets another version (checkout-context.ts): orders name the one that was shown.
    const wordings = languages.map((lang) => translator(lang)('checkout.beginAtOnce', { count: 14 }));
    expect(wordings).toEqual([
      'I ask that my plan begins right away. I know that after a withdrawal within 14 days I pay for the days until then.',
      'Ich verlange, dass mein Tarif sofort beginnt. Mir ist bekannt, dass ich nach einem Widerruf innerhalb von 14 Tagen die Tage bis dahin bezahle.',
      'Je demande que ma formule commence immédiatement. Je sais qu’en cas de rétractation dans les 14 jours, je paie les jours écoulés jusque-là.',
      'Ik vraag dat mijn abonnement meteen begint. Ik weet dat ik na een herroeping binnen 14 dagen voor de dagen tot dan betaal.',
    ]);
  });

  it('An upgrade within a paid period is no new contract: its page has no box and names no withdrawal', async () => {
    const { user, browser } = await buyer();
    const html = await (await browser.get('/plan-purchase/12')).text();
    expect(html).not.toContain('name="beginsAtOnce"');
    expect(wordsOf(html)).not.toContain('You can withdraw');
    await browser.post('/plan-purchase/12', fieldsWith(html, 'dueCents'));
    expect((await orders(user))[0]).toMatchObject({ planId: '12', beginRequestedAt: null });
  });

  it('A purchase of which a code pays everything owes nothing, and asks for nothing', async () => {
    const stripe = shop.stripe.client();
    const coupon = await stripe.coupons.create({ percent_off: 100, duration: 'once' });
    await stripe.promotionCodes.create({ code: 'WHOLE', promotion: { type: 'coupon', coupon: coupon.id } });
    const { user, browser } = await visitor();
    await shop.membership.choose(user, shop.plan('m-99'));
    await shop.membership.applyPromotion(user, 'WHOLE', from);
    const html = await (await browser.get('/plan-purchase/10')).text();
    expect(html).not.toContain('name="beginsAtOnce"');
    await browser.post('/plan-purchase/10', fieldsWith(html, 'dueCents'));
    expect((await shop.userNow(user)).planId).toBe('10');
  });

  it('The share is of what the card and the credit have paid, and the card gets back first', async () => {
    const { user, browser } = await visitor();
    const customer = (await shop.membership.getMembership(user.id))?.customerId ?? '';
    await shop.stripe.client().customers.update(customer, { balance: -4_000 });
    const page = '/plan-purchase/10';
    await browser.post(page, { ...fieldsWith(await (await browser.get(page)).text(), 'dueCents'), ...begins });
    expect(await orders(user)).toMatchObject([{ paidCents: 5_900, usedCreditCents: 4_000 }]);
    shop.passTime(10 * dayMs + 60_000);
    const later = await shop.foyer.signedIn(user);
    const html = await (await later.get(path)).text();
    // A third of $99.00.
    expect(wordsOf(html)).toContain('We keep $33.00 for 10 of 30 days');
    expect(wordsOf(html)).toContain('We give $59.00 back to your card.');
    expect(wordsOf(html)).toContain('$7.00 that was paid from your credit');
    await later.post(path, fieldsWith(html, 'days'));
    expect(await shop.stripe.client().customers.retrieve(customer)).toMatchObject({ balance: -700 });
    expect((await orders(user))[0]).toMatchObject({ refundedCents: 5_900 });
  });
});
