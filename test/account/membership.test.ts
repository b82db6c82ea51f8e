import { confirmCard } from '../billing/checkout/card-steps.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { cards, dayMs, type Shop } from '../billing/steps.ts';
import { anyBackend } from '../support/stores.ts';
import { day, later, onTrial, page, path, standing, startMembershipPages, withPlan } from './membership-steps.ts';

describe('the page of the membership', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startMembershipPages();
  });
  afterAll(() => shop?.close());

  it('The page without a plan says so, links to the plans and offers nothing to cancel', async () => {
    const browser = await shop.foyer.signedIn(await shop.foyer.addUser());
    const html = await (await browser.get(path)).text();
    expect(wordsOf(html)).toContain('Plan None');
    expect(wordsOf(html)).toContain('Your membership You have no plan');
    expect(wordsOf(html)).toContain('There are no invoices yet.');
    expect(html).toContain('href="/plan-purchase"');
    expect(html).not.toContain(`${path}/cancel`);
  });

  it('The page of a trial says how long it lasts, in the plural forms of the language', async () => {
    const user = await onTrial(shop);
    const browser = await shop.foyer.signedIn(user);
    expect(await page(browser)).toMatch(/Your trial ends in 7 days You have Basic until .*\. Choose a plan/);
    expect(await page(browser)).toContain(day((await standing(shop, user)).trialEnd ?? 0));
    await browser.post('/language', { lang: 'de', redirect: path });
    expect(await page(browser)).toMatch(/Ihre Testphase endet in 7 Tagen/);
  });

  it('The page after a trial without a card says that it is over and links to the plans', async () => {
    const user = await onTrial(shop);
    await later(shop, 8 * dayMs);
    expect((await standing(shop, user)).status).toBe('paused');
    const words = await page(await shop.foyer.signedIn(user));
    expect(words).toContain('Your trial is over');
    expect(words).toContain('Choose a plan');
  });

  it('The page of a paid plan shows plan, price, renewal, features, card and the invoice with Stripe’s pages', async () => {
    const { user, browser } = await withPlan(shop, 'y-900');
    const html = await (await browser.get(path)).text();
    const words = wordsOf(html);
    expect(words).toContain('Starter, every 365 days');
    expect(words).toContain('$900 every 365 days');
    expect(words).toContain(`Renews on ${day((await standing(shop, user)).periodEnd ?? 0)}`);
    expect(words).toContain('Search and shortlist');
    expect(words).toContain('Visa •••• 4242');
    expect(words).toContain(`Valid until 12/${(await standing(shop, user)).card?.expYear}`);
    expect(words).toMatch(/\$900\.00 .*Paid/);
    expect(words).toContain('New plan');
    const [invoice] = (await shop.membership.invoices(user)).filter(({ paidCents }) => paidCents > 0);
    expect(invoice?.url).toMatch(/^http/);
    for (const url of [invoice?.url, invoice?.pdfUrl]) expect(html).toContain(`href="${url}"`);
    // One line below the heading has all of it.
    expect(html).toMatch(
      /<h1>Your membership<\/h1><p class="muted">Starter, every 365 days\u00a0· Renews on \w+\s\d+,\s\d{4}<\/p>/,
    );
    // The home page of the settings has one line.
    expect(await page(browser, '/settings')).toMatch(/Starter, every 365 days Renews on .* Manage/);
  });

  it('The page lists the credit notes of an invoice with number, amount and document', async () => {
    const { user, browser } = await withPlan(shop);
    const [invoice] = (await shop.membership.invoices(user)).filter(({ paidCents }) => paidCents > 0);
    const stripe = shop.stripe.client();
    const note = await stripe.creditNotes.create({ invoice: invoice?.id ?? '', amount: 900, refund_amount: 900 });
    await shop.membership.reconcile({ pauseMs: 0 });
    const html = await (await browser.get(path)).text();
    expect(wordsOf(html)).toContain(`Credit note ${note.number}, $9.00`);
    expect(wordsOf(html)).toContain('$9.00 refunded');
    expect(html).toContain(`href="${note.pdf}"`);
  });

  it('A member can cancel at the period’s end and resume, each with a confirmation and a notice', async () => {
    const { user, browser } = await withPlan(shop);
    const end = day((await standing(shop, user)).periodEnd ?? 0);
    expect(await page(browser, `${path}/cancel`)).toContain(`Until ${end} you keep everything that your plan gives.`);
    const cancelled = await browser.post(`${path}/cancel`);
    expect([cancelled.status, cancelled.headers.get('location')]).toEqual([303, `${path}#membership:cancelled`]);
    const words = await page(browser, `${path}#membership:cancelled`);
    expect(words).toContain(`Your membership ends on ${end}`);
    expect(words).toContain('Your membership is canceled.');
    expect(words).not.toContain('Cancel membership');
    expect(await standing(shop, user)).toMatchObject({ cancelAtPeriodEnd: true, paidPlanId: '10' });
    // A second cancellation has nothing to cancel.
    expect((await browser.get(`${path}/cancel`)).headers.get('location')).toBe(`${path}#membership:nothing`);
    expect(await page(browser, `${path}/resume`)).toContain(`renews on ${end} at $99.00, as it did before`);
    expect((await browser.post(`${path}/resume`)).headers.get('location')).toBe(`${path}#membership:resumed`);
    expect(await page(browser)).toContain(`Renews on ${end}`);
    expect(await standing(shop, user)).toMatchObject({ cancelAtPeriodEnd: false });
    expect((await browser.post(`${path}/resume`)).headers.get('location')).toBe(`${path}#membership:nothing`);
  });

  it('A scheduled cheaper plan is shown with both plans and the day, and the member can keep the current plan', async () => {
    const { user, browser } = await withPlan(shop, 'm-499');
    expect((await shop.buy(user, 'm-99')).kind).toBe('scheduled');
    const end = day((await standing(shop, user)).periodEnd ?? 0);
    expect(await page(browser)).toContain(
      `Until ${end} you have Growth, every 30 days. After that you have Starter, every 30 days.`,
    );
    expect(await page(browser, '/settings')).toContain(`From ${end}: Starter, every 30 days`);
    expect(await page(browser, `${path}/resume`)).toContain(
      `You won’t change to Starter, every 30 days. Growth continues and renews on ${end} at $499.00.`,
    );
    await browser.post(`${path}/resume`);
    expect(await page(browser)).toContain(`Renews on ${end}`);
    expect((await standing(shop, user)).nextPlanId).toBeNull();
  });

  it('A partner’s plan has no end and a free plan no price, and neither can be cancelled', async () => {
    const user = await shop.foyer.addUser();
    const free = shop.membership.catalogue.byCode('m-free');
    if (free) await shop.membership.takeFree(user, free);
    const browser = await shop.foyer.signedIn(user);
    const shown = await page(browser);
    expect(shown).toMatch(/Plan Free, every 30 days(?! Price)/);
    expect(shown.split('Free of charge')).toHaveLength(2);
    expect((await browser.get(`${path}/cancel`)).headers.get('location')).toBe(`${path}#membership:nothing`);
    const partner = await shop.foyer.addUser({ planId: shop.membership.catalogue.ofTier(2)?.id ?? null });
    expect(await page(await shop.foyer.signedIn(partner))).toContain('Lifetime');
  });

  it('A card that is saved when the plan has just ended at Stripe is saved, although the event has not arrived yet', async () => {
    const { user, browser } = await withPlan(shop);
    const { subscriptionId } = await standing(shop, user);
    shop.stripe.webhooks.mode = 'held';
    const begun = await browser.postJson(`${path}/card/setup`, {});
    const { clientSecret } = (await begun.json()) as { clientSecret: string };
    const setupIntent = confirmCard({ standIn: shop.stripe }, clientSecret, cards.mastercard);
    await shop.stripe.client().subscriptions.cancel(subscriptionId ?? '');
    const saved = await browser.post(`${path}/card`, { setupIntent });
    shop.stripe.webhooks.mode = 'prompt';
    await shop.stripe.webhooks.idle();
    expect([saved.status, saved.headers.get('location')]).toEqual([303, `${path}#membership:card`]);
    expect(await page(browser)).toMatch(/Plan None .* Mastercard •••• 4444/);
    // The next purchase is paid by it.
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
  });

  it('Only the card page may load from Stripe, a declined card shows Stripe’s reason, and a new card is mailed', async () => {
    const { user, browser } = await withPlan(shop);
    const form = await browser.get(`${path}/card`);
    expect(form.headers.get('content-security-policy')).toContain(shop.stripe.url);
    expect((await browser.get(path)).headers.get('content-security-policy')).not.toContain(shop.stripe.url);
    const begun = await browser.postJson(`${path}/card/setup`, {});
    const { clientSecret } = (await begun.json()) as { clientSecret: string };
    const unfinished = await browser.post(`${path}/card`, { setupIntent: clientSecret.split('_secret_')[0] ?? '' });
    expect(unfinished.status).toBe(400);
    const setupIntent = confirmCard({ standIn: shop.stripe }, clientSecret, cards.mastercard);
    expect((await browser.post(`${path}/card`, { setupIntent })).headers.get('location')).toBe(
      `${path}#membership:card`,
    );
    expect(await page(browser)).toContain('Mastercard •••• 4444');
    expect((await shop.foyer.mails(user.email)).map(({ template }) => template)).toContain('card-changed');
  });
});

describe('without plans for sale', () => {
  it('A stored plan is shown without anything to buy, cancel or pay', async () => {
    const { startFoyer } = await import('../support/foyer.ts');
    const foyer = await startFoyer(anyBackend);
    const user = await foyer.addUser({ planId: foyer.app.membership.catalogue.ofTier(1)?.id ?? null });
    const browser = await foyer.signedIn(user);
    const html = await (await browser.get(path)).text();
    expect(wordsOf(html)).toContain('AppSumo Tier 1');
    expect(html).not.toContain('/plan-purchase');
    for (const act of ['cancel', 'resume', 'pay', 'card']) {
      expect([act, (await browser.get(`${path}/${act}`)).status]).toEqual([act, 404]);
    }
    await foyer.close();
  });
});
