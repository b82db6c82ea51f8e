import { page, path, standing } from '../account/membership-steps.ts';
import { toPlanId } from '../support/ids.ts';
import { atStripe, charges, hourMs, openAct, pass } from './pause-steps.ts';
import { type Member, member, order, planPage, startTrialShop, templates, trier } from './plan-trial-steps.ts';
import { cards, dayMs, from, type Shop } from './steps.ts';

describe('a paid plan that begins with free days', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTrialShop({ draftsRenewals: true });
  });
  afterAll(() => shop?.close());

  const planOf = async ({ user }: Member) => (await shop.userNow(user)).planId;
  const endOf = async ({ user }: Member) => (await standing(shop, user)).triedUntil ?? 0;

  it('The page names the days, nothing due today, the first charge and how to cancel, and its button obliges', async () => {
    const { browser } = await member(shop);
    const { words, fields } = await planPage(browser);
    expect(words).toContain('14 days free, then $99.00 a month');
    expect(words).toMatch(/Due today \$0\.00/);
    expect(words).toMatch(/First payment on \w+ \d+, \d{4} \$99\.00/);
    expect(words).toContain('you can cancel at any time on your membership page');
    expect(words).toMatch(/Start free trial – then pay \$99\.00 a month from/);
    expect(fields).toMatchObject({ planId: '10', dueCents: '0', laterCents: '9900' });
    expect(Number(fields.trialEnd)).toBeGreaterThan(shop.stripe.engine.nowMs() + 13 * dayMs);
  });

  it('The plan is given at once and charged at its end, as announced', async () => {
    const who = await trier(shop);
    expect(await planOf(who)).toBe('10');
    expect(await charges(shop, who.user)).toEqual([]);
    expect(await atStripe(shop, who.user)).toMatchObject({ status: 'trialing', metadata: { foyer_trial: '10' } });
    expect(await page(who.browser)).toContain('Free until');
    const end = await endOf(who);
    await pass(shop, end - hourMs);
    expect(await planOf(who)).toBe('10');
    // In the hour of its draft the plan does not vanish.
    await pass(shop, end + hourMs / 2);
    expect((await atStripe(shop, who.user)).status).toBe('active');
    await shop.membership.refresh(who.user.id);
    expect(await planOf(who)).toBe('10');
    expect(await charges(shop, who.user)).toEqual([]);
    await pass(shop, end + 2 * hourMs);
    expect(await charges(shop, who.user)).toEqual([9_900]);
    expect(await planOf(who)).toBe('10');
    const told = await templates(shop, who.user);
    expect(told.filter((one) => one !== 'welcome')).toEqual(['plan-trial-began', 'plan-trial-ends', 'receipt']);
    expect(await shop.membership.reconcile()).toMatchObject({ repaired: [], left: [] });
  });

  it('The notice comes seven days before, with day and amount', async () => {
    const who = await trier(shop);
    const end = await endOf(who);
    await pass(shop, end - 8 * dayMs);
    expect(await templates(shop, who.user)).not.toContain('plan-trial-ends');
    await pass(shop, end - 6.4 * dayMs);
    const mail = (await shop.foyer.mails(who.user.email)).find(({ template }) => template === 'plan-trial-ends');
    expect(mail?.values).toMatchObject({ amountCents: 9_900, chargedAt: end, currency: 'usd' });
    expect(mail?.text).toContain('/settings/membership/cancel');
  });

  it('Of five days, the notice comes three days before', async () => {
    const who = await trier(shop, { plan: '12' });
    const end = await endOf(who);
    await pass(shop, end - 3.5 * dayMs);
    expect(await templates(shop, who.user)).not.toContain('plan-trial-ends');
    await pass(shop, end - 2.4 * dayMs);
    expect(await templates(shop, who.user)).toContain('plan-trial-ends');
  });

  it('Canceled before its end, nothing is ever charged, and the plan lasts until then', async () => {
    const who = await trier(shop);
    const { html, fields } = await openAct(who.browser, 'cancel');
    expect(html).toContain('Nothing has been charged, and nothing will be.');
    await who.browser.post(`${path}/cancel`, fields);
    const end = await endOf(who);
    expect(await standing(shop, who.user)).toMatchObject({ cancelAtPeriodEnd: true, nextCharge: null });
    expect(await planOf(who)).toBe('10');
    await pass(shop, end - hourMs);
    expect(await planOf(who)).toBe('10');
    await pass(shop, end + 3 * dayMs);
    expect(await planOf(who)).toBeNull();
    expect(await charges(shop, who.user)).toEqual([]);
    expect((await templates(shop, who.user)).filter((one) => one.startsWith('plan-'))).toEqual([
      'plan-trial-began',
      'plan-cancelled',
      'plan-ended',
    ]);
  });

  it('A cancellation is taken back, and the first charge comes as before', async () => {
    const who = await trier(shop);
    await who.browser.post(`${path}/cancel`, {});
    expect(await page(who.browser)).toContain('Resume membership');
    const { fields } = await openAct(who.browser, 'resume');
    expect(fields).toMatchObject({ laterCents: '9900' });
    await who.browser.post(`${path}/resume`, fields);
    expect(await standing(shop, who.user)).toMatchObject({ cancelAtPeriodEnd: false });
    await pass(shop, (await endOf(who)) + 2 * hourMs);
    expect(await charges(shop, who.user)).toEqual([9_900]);
  });

  it('A declined first charge gives no grace: the plan rests until it is paid', async () => {
    const who = await trier(shop, { card: cards.chargeDeclined });
    const end = await endOf(who);
    await pass(shop, end + 2 * hourMs);
    expect(await planOf(who)).toBeNull();
    expect(await standing(shop, who.user)).toMatchObject({ status: 'past_due', unpaid: { withoutGrace: true } });
    expect(await page(who.browser)).toContain('Your plan is paused until this is paid.');
    await shop.saveCard(who.user, cards.mastercard);
    expect((await shop.membership.payUnpaid(who.user, from)).kind).toBe('paid');
    expect(await charges(shop, who.user)).toEqual([9_900]);
    expect(await planOf(who)).toBe('10');
  });

  it('While the first charge is being made, another plan waits for it, and the page of cancelling names it', async () => {
    const who = await trier(shop);
    await pass(shop, (await endOf(who)) + hourMs / 2);
    await shop.membership.refresh(who.user.id);
    expect((await planPage(who.browser, '12')).words).toContain('Your renewal of $99.00 is being charged');
    const again = await shop.foyer.signedIn(who.user);
    expect((await openAct(again, 'cancel')).html).toContain('$99.00');
    await again.post(`${path}/cancel`, { when: 'now' });
    await pass(shop, (await endOf(who)) + 3 * dayMs);
    expect(await charges(shop, who.user)).toEqual([]);
    expect(await planOf(who)).toBeNull();
  });

  it('Canceled while the first charge is being made, the plan lasts until the end of the month that it pays', async () => {
    const who = await trier(shop);
    const end = await endOf(who);
    await pass(shop, end + hourMs / 2);
    await shop.membership.refresh(who.user.id);
    await (await shop.foyer.signedIn(who.user)).post(`${path}/cancel`, {});
    await pass(shop, end + 20 * dayMs);
    expect(await charges(shop, who.user)).toEqual([9_900]);
    expect(await planOf(who)).toBe('10');
    await pass(shop, end + 33 * dayMs);
    expect(await charges(shop, who.user)).toEqual([9_900]);
    expect(await planOf(who)).toBeNull();
  });

  it('A plan whose first charge stays unknown is not given for longer than six hours, also if every event is lost', async () => {
    const who = await trier(shop);
    const { triedUntil } = await standing(shop, who.user);
    const { db } = shop.foyer.deps.database;
    // As if nothing was heard since: Stripe has ended the subscription.
    shop.stripe.engine.call({ method: 'DELETE', path: `/v1/subscriptions/${(await atStripe(shop, who.user)).id}` });
    await shop.stripe.webhooks.idle();
    await db
      .updateTable('memberships')
      .set({ status: 'trialing', triedPlanId: toPlanId('10'), syncedAt: triedUntil })
      .where('userId', '=', who.user.id)
      .execute();
    await db
      .updateTable('users')
      .set({ planId: toPlanId('10') })
      .where('id', '=', who.user.id)
      .execute();
    shop.passTime((triedUntil ?? 0) + 5 * hourMs - shop.stripe.engine.nowMs());
    await shop.membership.work();
    expect(await planOf(who)).toBe('10');
    shop.passTime(2 * hourMs);
    await shop.membership.work();
    expect(await planOf(who)).toBeNull();
  });

  it('A card that is removed during the trial is not charged: the plan ends', async () => {
    const who = await trier(shop);
    const { card } = await standing(shop, who.user);
    await shop.stripe.client().paymentMethods.detach(card?.paymentMethodId ?? '');
    await pass(shop, (await endOf(who)) + 2 * hourMs);
    expect(await atStripe(shop, who.user)).toMatchObject({ status: 'canceled' });
    expect(await planOf(who)).toBeNull();
    expect(await charges(shop, who.user)).toEqual([]);
  });

  it('Another plan during the trial is bought at once, in full, and the trial ends', async () => {
    const who = await trier(shop);
    const { words, fields } = await planPage(who.browser, '12');
    expect(words).toContain('Pay $499.00');
    expect(fields).not.toHaveProperty('trialEnd');
    await who.browser.post('/plan-purchase/12', fields);
    expect(await charges(shop, who.user)).toEqual([49_900]);
    expect(await planOf(who)).toBe('12');
    expect((await atStripe(shop, who.user)).metadata).not.toHaveProperty('foyer_trial');
    expect(await shop.membership.reconcile()).toMatchObject({ repaired: [], left: [] });
  });

  it('The same plan is not sold again during its trial', async () => {
    const who = await trier(shop);
    expect((await planPage(who.browser)).words).toContain('You already have this plan.');
    const stale = { planId: '10', dueCents: '9900', laterCents: '9900' };
    await who.browser.post('/plan-purchase/10', stale);
    expect(await charges(shop, who.user)).toEqual([]);
    const shown = await page(who.browser);
    for (const act of ['Pause membership', 'Change seats']) expect(shown).not.toContain(act);
  });

  it('After the first trial of every member, a plan begins with its free days as well', async () => {
    const who = await member(shop);
    await pass(shop, shop.stripe.engine.nowMs() + 8 * dayMs);
    expect((await planPage(who.browser)).words).toContain('14 days free');
    await order(who.browser);
    expect(await planOf(who)).toBe('10');
    await pass(shop, (await endOf(who)) + 2 * hourMs);
    expect(await charges(shop, who.user)).toEqual([9_900]);
  });
});
