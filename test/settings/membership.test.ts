import type { User } from '../../server/users/index.ts';
import { confirmCard, islandProps, saveCardAt } from '../checkout/card-steps.ts';
import { wordsOf } from '../checkout/shop.ts';
import { cards, dayMs, type Shop, startShop } from '../membership/steps.ts';
import type { Browser } from '../support/browser.ts';
import { anyBackend } from '../support/stores.ts';

const path = '/settings/membership';

describe('the page of the membership', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend);
    shop.stripe.tell(shop.foyer.url);
  });
  afterAll(() => shop?.close());

  const page = async (browser: Browser, at = path) => wordsOf(await (await browser.get(at)).text());
  const day = (atMs: number, lang = 'en') => new Intl.DateTimeFormat(lang, { dateStyle: 'long' }).format(atMs);
  const later = async (ms: number) => {
    shop.passTime(ms);
    await shop.stripe.webhooks.idle();
  };
  const standing = async ({ id }: User) => {
    const found = await shop.membership.getMembership(id);
    if (!found) throw new Error('nothing is known of the member');
    return found;
  };
  /** A member who has a trial. */
  const onTrial = async (): Promise<User> => {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    return user;
  };
  /** A member who has paid for a plan. */
  const withPlan = async (code = 'm-99', card: string = cards.visa): Promise<{ user: User; browser: Browser }> => {
    const user = await onTrial();
    await shop.saveCard(user, card);
    const bought = await shop.buy(user, code);
    if (bought.kind !== 'paid') throw new Error(`not bought: ${bought.kind}`);
    return { user, browser: await shop.foyer.signedIn(user) };
  };
  /** Their renewal has failed. */
  const withFailedRenewal = async (number: string = cards.chargeDeclined) => {
    const { user } = await withPlan();
    const { card } = await standing(user);
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', number);
    await later(30 * dayMs + 60 * 60_000);
    return { user, browser: await shop.foyer.signedIn(user) };
  };

  it('The page without a plan says so, links to the plans and offers nothing to cancel', async () => {
    const browser = await shop.foyer.signedIn(await shop.foyer.addUser());
    const html = await (await browser.get(path)).text();
    expect(wordsOf(html)).toContain('Plan None');
    expect(wordsOf(html)).toContain('There are no invoices yet.');
    expect(html).toContain('href="/plan-purchase"');
    expect(html).not.toContain(`${path}/cancel`);
  });

  it('The page of a trial says how long it lasts, in the plural forms of the language', async () => {
    const user = await onTrial();
    const browser = await shop.foyer.signedIn(user);
    expect(await page(browser)).toMatch(/Your trial ends in 7 days Until .* you have everything that Basic gives\./);
    expect(await page(browser)).toContain(day((await standing(user)).trialEnd ?? 0));
    await browser.post('/language', { lang: 'de', redirect: path });
    expect(await page(browser)).toMatch(/Ihre Testphase endet in 7 Tagen/);
  });

  it('The page after a trial without a card says that it is over and links to the plans', async () => {
    const user = await onTrial();
    await later(8 * dayMs);
    expect((await standing(user)).status).toBe('paused');
    const words = await page(await shop.foyer.signedIn(user));
    expect(words).toContain('Your trial is over');
    expect(words).toContain('Choose a plan');
  });

  it('The page of a paid plan shows plan, price, renewal, features, card and the invoice with Stripe’s pages', async () => {
    const { user, browser } = await withPlan('y-900');
    const html = await (await browser.get(path)).text();
    const words = wordsOf(html);
    expect(words).toContain('Starter, annual');
    expect(words).toContain('$900 a year');
    expect(words).toContain(`Renews on ${day((await standing(user)).periodEnd ?? 0)}`);
    expect(words).toContain('Search and shortlist');
    expect(words).toContain('Visa •••• 4242');
    expect(words).toContain(`Valid until 12/${(await standing(user)).card?.expYear}`);
    expect(words).toMatch(/\$900\.00 .*Paid/);
    expect(words).toContain('New plan');
    const [invoice] = (await shop.membership.invoices(user)).filter(({ paidCents }) => paidCents > 0);
    expect(invoice?.url).toMatch(/^http/);
    for (const url of [invoice?.url, invoice?.pdfUrl]) expect(html).toContain(`href="${url}"`);
    // One line on the settings' home.
    expect(await page(browser, '/settings')).toMatch(/Starter, annual Renews on .* Manage/);
  });

  it('A member can cancel at the period’s end and resume, each with a confirmation and a notice', async () => {
    const { user, browser } = await withPlan();
    const end = day((await standing(user)).periodEnd ?? 0);
    expect(await page(browser, `${path}/cancel`)).toContain(`Until ${end} you keep everything that your plan gives.`);
    const cancelled = await browser.post(`${path}/cancel`);
    expect([cancelled.status, cancelled.headers.get('location')]).toEqual([303, `${path}?notice=cancelled`]);
    const words = await page(browser, `${path}?notice=cancelled`);
    expect(words).toContain(`Your membership ends on ${end}`);
    expect(words).toContain('Your membership is cancelled.');
    expect(words).not.toContain('Cancel membership');
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: true, paidPlanId: '10' });
    // A second time there is nothing to cancel any more.
    expect((await browser.get(`${path}/cancel`)).headers.get('location')).toBe(`${path}?notice=nothing`);
    expect(await page(browser, `${path}/resume`)).toContain(`renews on ${end}, as it did before`);
    expect((await browser.post(`${path}/resume`)).headers.get('location')).toBe(`${path}?notice=resumed`);
    expect(await page(browser)).toContain(`Renews on ${end}`);
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: false });
    expect((await browser.post(`${path}/resume`)).headers.get('location')).toBe(`${path}?notice=nothing`);
  });

  it('A scheduled cheaper plan is shown with both plans and the day, and the member can keep the current plan', async () => {
    const { user, browser } = await withPlan('m-499');
    expect((await shop.buy(user, 'm-99')).kind).toBe('scheduled');
    const end = day((await standing(user)).periodEnd ?? 0);
    expect(await page(browser)).toContain(`Until ${end} you have Growth, monthly. Then Starter, monthly begins.`);
    expect(await page(browser, '/settings')).toContain(`From ${end}: Starter, monthly`);
    expect(await page(browser, `${path}/resume`)).toContain('The change to Starter, monthly does not happen.');
    await browser.post(`${path}/resume`);
    expect(await page(browser)).toContain(`Renews on ${end}`);
    expect((await standing(user)).nextPlanId).toBeNull();
  });

  it('A partner’s plan has no end and a free plan no price, and neither can be cancelled', async () => {
    const user = await shop.foyer.addUser();
    const free = shop.membership.catalogue.byCode('m-free');
    if (free) await shop.membership.takeFree(user, free);
    const browser = await shop.foyer.signedIn(user);
    expect(await page(browser)).toMatch(/Plan Free, monthly Price Free of charge/);
    expect((await browser.get(`${path}/cancel`)).headers.get('location')).toBe(`${path}?notice=nothing`);
    const partner = await shop.foyer.addUser({ planId: shop.membership.catalogue.ofTier(2)?.id ?? null });
    expect(await page(await shop.foyer.signedIn(partner))).toContain('Paid for, without end');
  });

  it('A failed renewal shows the amount, the next attempt and the last day, and another card settles it', async () => {
    const { user, browser } = await withFailedRenewal();
    const { unpaid } = await standing(user);
    expect(unpaid).toMatchObject({ why: 'failed', amountCents: 9_900 });
    const words = await page(browser);
    expect(words).toContain('Your last payment did not go through We could not charge $99.00 to your card.');
    expect(words).toContain(`We try again on ${day(unpaid?.nextAttemptAt ?? 0)}.`);
    expect(words).toMatch(/You keep your plan until/);
    expect(await page(browser, '/settings')).toContain('Your last payment did not go through');
    // The card does not work yet: the card provider's own message, and nothing is charged.
    const declined = await browser.post(`${path}/pay`);
    expect(declined.status).toBe(402);
    expect(wordsOf(await declined.text())).toContain('Your card was declined.');
    const settled = await saveCardAt({ standIn: shop.stripe } as never, browser, `${path}/card`, cards.mastercard);
    expect([settled.status, settled.headers.get('location')]).toEqual([303, `${path}?notice=card`]);
    expect(await page(browser, `${path}/pay`)).toContain('It is charged to Mastercard •••• 4444.');
    expect((await browser.post(`${path}/pay`)).headers.get('location')).toBe(`${path}?notice=paid`);
    expect(await standing(user)).toMatchObject({ status: 'active', unpaid: null });
    expect(await page(browser)).not.toContain('did not go through');
    // Pressed again: nothing is charged twice.
    expect((await browser.post(`${path}/pay`)).headers.get('location')).toBe(`${path}?notice=nothing`);
    const paid = (await shop.membership.invoices(user)).filter(({ paidCents }) => paidCents > 0);
    expect(paid.map(({ paidCents }) => paidCents)).toEqual([9_900, 9_900]);
    const mails = (await shop.foyer.mails(user.email)).map(({ template }) => template);
    expect(mails.filter((template) => template === 'receipt')).toHaveLength(2);
  });

  it('Cancelling a failed renewal ends the membership at once, and its invoice can no longer be paid', async () => {
    const { user, browser } = await withFailedRenewal();
    const { unpaid } = await standing(user);
    expect(await page(browser, `${path}/cancel`)).toContain('It ends at once, because its renewal is not paid.');
    expect((await browser.post(`${path}/cancel`)).headers.get('location')).toBe(`${path}?notice=ended`);
    const words = await page(browser, `${path}?notice=ended`);
    expect(words).toContain('Your membership has ended.');
    expect(words).toContain('Plan None');
    expect(words).not.toContain('did not go through');
    const invoices = await shop.membership.invoices(user);
    expect(invoices.find(({ id }) => id === unpaid?.invoiceId)).toMatchObject({ status: 'void', paidCents: 0 });
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('A failed renewal must be settled before another plan is bought, and a free plan ends it at once', async () => {
    const { user, browser } = await withFailedRenewal();
    // What is open says what it is for, as what is paid does; its place is under the membership.
    expect(await page(browser)).toMatch(
      /For Amount Status .*? Starter, monthly \$99\.00 Open .*? Starter, monthly New plan/,
    );
    expect(await page(browser, `${path}/pay`)).toMatch(/Account Settings Membership/);
    for (const address of ['/plan-purchase/12', '/plan-purchase/12/addPayment']) {
      expect((await browser.get(address)).headers.get('location')).toMatch(/\/settings\/membership$/);
    }
    const { unpaid } = await standing(user);
    const free = shop.membership.catalogue.byCode('m-free');
    if (free) expect(await shop.membership.takeFree(user, free)).toMatchObject({ kind: 'paid', plan: { id: '1' } });
    const invoices = await shop.membership.invoices(user);
    expect(invoices.find(({ id }) => id === unpaid?.invoiceId)).toMatchObject({ status: 'void', paidCents: 0 });
    expect((await shop.userNow(user)).planId).toBe('1');
    expect(await page(browser)).not.toContain('did not go through');
  });

  it('The page promises no day in the past once an unpaid renewal is over', async () => {
    const { user, browser } = await withFailedRenewal();
    await later(8 * dayMs);
    const words = await page(browser);
    expect(words).toContain('Plan None');
    expect((await standing(user)).unpaid).not.toBeNull();
    expect(words).not.toMatch(/You keep your plan until/);
  });

  it('A renewal that needs bank authentication is confirmed on this page, which shows the result', async () => {
    const { user, browser } = await withFailedRenewal(cards.authenticatesAlways);
    expect((await standing(user)).unpaid).toMatchObject({ why: 'action-required' });
    expect(await page(browser)).toContain('A payment of $99.00 waits until you confirm it with your bank.');
    const asked = await browser.post(`${path}/pay`);
    expect(asked.status).toBe(200);
    expect(asked.headers.get('content-security-policy')).toContain(shop.stripe.url);
    const { clientSecret, action } = islandProps(await asked.text(), 'payment-action');
    expect(action).toBe(`${path}/pay`);
    // Not answered yet.
    const early = await browser.post(`${path}/pay`, { act: 'outcome' });
    expect([early.status, wordsOf(await early.text())]).toEqual([
      402,
      expect.stringContaining('not been confirmed yet'),
    ]);
    shop.stripe.engine.authenticate(String(clientSecret).split('_secret_')[0] ?? '', 'succeed');
    const done = await browser.post(`${path}/pay`, { act: 'outcome' });
    expect(done.headers.get('location')).toBe(`${path}?notice=paid`);
    expect(await standing(user)).toMatchObject({ status: 'active', unpaid: null });
  });

  it('Only the card page may load from Stripe, a declined card shows Stripe’s reason, and a new card is mailed', async () => {
    const { user, browser } = await withPlan();
    const form = await browser.get(`${path}/card`);
    expect(form.headers.get('content-security-policy')).toContain(shop.stripe.url);
    expect((await browser.get(path)).headers.get('content-security-policy')).not.toContain(shop.stripe.url);
    const begun = await browser.postJson(`${path}/card/setup`, {});
    const { clientSecret } = (await begun.json()) as { clientSecret: string };
    const unfinished = await browser.post(`${path}/card`, { setupIntent: clientSecret.split('_secret_')[0] ?? '' });
    expect(unfinished.status).toBe(400);
    const setupIntent = confirmCard({ standIn: shop.stripe }, clientSecret, cards.mastercard);
    expect((await browser.post(`${path}/card`, { setupIntent })).headers.get('location')).toBe(`${path}?notice=card`);
    expect(await page(browser)).toContain('Mastercard •••• 4444');
    expect((await shop.foyer.mails(user.email)).map(({ template }) => template)).toContain('card-changed');
  });

  /** Answers while Stripe is away, and calls it back. */
  async function away<T>(act: () => Promise<T>): Promise<T> {
    let isAway = true;
    for (let tries = 0; tries < 40; tries += 1) shop.stripe.fault('unreachable', () => isAway);
    try {
      return await act();
    } finally {
      isAway = false;
    }
  }
  const noted = 'Your cancellation is noted. It is passed on as soon as our payment provider answers.';
  const atStripe = async (user: User) =>
    shop.stripe.engine.find((await standing(user)).subscriptionId ?? '') as { cancel_at_period_end: boolean };

  it('The page shows stored data with a warning while Stripe is away, and a payment is refused with 503', async () => {
    const { browser } = await withPlan();
    const shown = await away(() => browser.get(path));
    expect(shown.status).toBe(200);
    const words = wordsOf(await shown.text());
    expect(words).toContain('What you see here may not be quite up to date.');
    expect(words).toContain('Starter, monthly');
    expect(words).toContain('$99.00');
    const { browser: other } = await withFailedRenewal();
    const refused = await away(() => other.post(`${path}/pay`));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(wordsOf(await refused.text())).toContain('Something went wrong!');
  });

  it('Cancelling while Stripe is away is accepted, shown until confirmed and done within a minute of its return', async () => {
    const { user, browser } = await withPlan();
    const answer = await away(() => browser.post(`${path}/cancel`));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${path}?notice=cancel-noted`]);
    for (const at of [`${path}?notice=cancel-noted`, path]) expect(await page(browser, at)).toContain(noted);
    const words = await page(browser);
    expect(words).toContain('Ends on');
    expect(words).not.toContain('Renews on');
    // Stripe has not confirmed it yet: nothing is promised of the next charge.
    expect(words).not.toContain('nothing more is charged');
    expect(await atStripe(user)).toMatchObject({ cancel_at_period_end: false });
    await later(2 * 60_000);
    await shop.membership.work();
    expect(await atStripe(user)).toMatchObject({ cancel_at_period_end: true });
    const after = await page(browser);
    expect(after).not.toContain(noted);
    expect(after).toContain('nothing more is charged');
  });

  it('Resuming while Stripe is away is accepted, and the last request counts', async () => {
    const { user, browser } = await withPlan();
    await browser.post(`${path}/cancel`);
    const answer = await away(() => browser.post(`${path}/resume`));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${path}?notice=resume-noted`]);
    const words = await page(browser);
    expect(words).toContain('Your wish to go on is noted.');
    expect(words).toContain('Renews on');
    expect(await atStripe(user)).toMatchObject({ cancel_at_period_end: true });
    await away(() => browser.post(`${path}/cancel`));
    await away(() => browser.post(`${path}/resume`));
    await later(2 * 60_000);
    await shop.membership.work();
    expect(await atStripe(user)).toMatchObject({ cancel_at_period_end: false });
    expect(await page(browser)).not.toContain('is noted');
  });

  it('A cancellation that waits comes before a later purchase and does not end what is bought', async () => {
    const { user, browser } = await withPlan();
    await away(() => browser.post(`${path}/cancel`));
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    await later(2 * 60_000);
    await shop.membership.work();
    expect(await standing(user)).toMatchObject({ paidPlanId: '12', cancelAtPeriodEnd: false });
  });

  it('A failed renewal that is cancelled while Stripe is away is no longer due', async () => {
    const { user, browser } = await withFailedRenewal();
    await away(() => browser.post(`${path}/cancel`));
    const words = await page(browser);
    expect(words).toContain(noted);
    expect(words).not.toContain('Pay now');
    expect(await page(browser, '/settings')).not.toContain('We could not charge');
    await later(2 * 60_000);
    await shop.membership.work();
    expect(await standing(user)).toMatchObject({ status: 'canceled', unpaid: null });
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
