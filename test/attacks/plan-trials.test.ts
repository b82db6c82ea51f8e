import { listOrders, StripeUnavailableError } from '../../server/billing/index.ts';
import { trialHash } from '../../server/billing/subscription/ensure-customer.ts';
import { claimTrial } from '../../server/billing/subscription/membership-store.ts';
import { importPartnerDeals, type User } from '../../server/users/index.ts';
import { asMember } from '../billing/api-steps.ts';
import { cards, dayMs } from '../billing/steps.ts';
import { toNormalisedEmail, toUserId } from '../support/ids.ts';
import { setUpPlans } from './plan-steps.ts';

describe('attacks on plans', () => {
  const context = setUpPlans();
  const { db, standing, planOf, buyer, taken } = context;
  const orders = ({ id }: User) => listOrders(db().db, id);

  it('An address with a plus tag is the same mailbox and gets no second trial', async () => {
    const tagged = async (email: string) =>
      (await context.shop.membership.ensure(await context.shop.foyer.addUser({ email }), 7)).status;
    expect(await tagged('farmer@example.org')).toBe('trialing');
    expect(await tagged('farmer+2@example.org')).not.toBe('trialing');
    expect(await tagged('farmer+30+1@example.org')).not.toBe('trialing');
    expect(await tagged('+farmer@example.org')).toBe('trialing');
    expect(await tagged('farmer@example.net')).toBe('trialing');
  });

  it('Spellings of one mailbox at Google get one trial', async () => {
    const statusOf = async (email: string) =>
      (await context.shop.membership.ensure(await context.shop.foyer.addUser({ email }), 7)).status;
    expect(await statusOf('dot.ted@gmail.com')).toBe('trialing');
    for (const email of ['dotted@gmail.com', 'd.o.tted+2@gmail.com', 'dotted@googlemail.com', 'do.tted@googlemail.com'])
      expect(await statusOf(email)).toBe('active');
    // Other hosts may have a mailbox for each.
    expect(await statusOf('dotted@example.org')).toBe('trialing');
    expect(await statusOf('dot.ted@example.org')).toBe('trialing');
  });

  it('A trial that an earlier release recorded by the exact spelling counts', async () => {
    const { database, trialKey, now } = context.shop.membership.deps;
    const valueHash = trialHash(trialKey, 'email', 'be.fore@googlemail.com');
    const claim = { kind: 'email' as const, valueHash, userId: toUserId('') };
    await database.transaction((trx) => claimTrial(trx, claim, now()));
    const again = await context.shop.foyer.addUser({ email: 'be.fore@googlemail.com' });
    expect((await context.shop.membership.ensure(again, 7)).status).toBe('active');
  });

  it('A user who deletes the account and signs up again gets no second trial', async () => {
    const email = 'again@example.org';
    const first = await context.shop.foyer.addUser({ email });
    expect((await context.shop.membership.ensure(first, 7)).status).toBe('trialing');
    const { db: kysely } = db();
    await kysely
      .updateTable('trialClaims')
      .set({ userId: toUserId('') })
      .where('userId', '=', first.id)
      .execute();
    await kysely
      .updateTable('users')
      .set({ email: toNormalisedEmail('gone@example.org') })
      .where('id', '=', first.id)
      .execute();
    expect((await context.shop.membership.ensure(await context.shop.foyer.addUser({ email }), 30)).status).toBe(
      'active',
    );
  });

  it('A card that has had its trial gives another member no second trial', async () => {
    const [one, other] = [await context.shop.foyer.addUser(), await context.shop.foyer.addUser()];
    await context.shop.saveCard(one, cards.mastercard);
    await context.shop.saveCard(other, cards.mastercard);
    expect([(await standing(one))?.status, (await standing(other))?.status]).toEqual(['trialing', 'active']);
    expect(await taken(other)).toEqual([]);
  });

  it('A trial does not start again by cancelling and buying again', async () => {
    const user = await buyer('m-99');
    await context.shop.membership.cancel(user);
    context.shop.passTime(31 * dayMs);
    await context.shop.membership.refresh(user.id);
    expect(await planOf(user)).toBeNull();
    expect(await context.shop.membership.ensure(user, 30)).toMatchObject({ status: 'active', pricedPlanId: 'trial' });
    expect(await planOf(user)).toBeNull();
  });

  it('A partner’s deal is only for the user who has confirmed its address', async () => {
    const email = 'dealer@example.org';
    await db().transaction((trx) =>
      importPartnerDeals(trx, [{ email: toNormalisedEmail(email), tier: 3 }], Date.now()),
    );
    const thief = await context.shop.foyer.addUser({ email, emailVerified: false });
    expect(await context.shop.membership.takeDeal(thief)).toBeUndefined();
    expect(await planOf(thief)).toBeNull();
  });

  it('A partner’s deal gives one member a plan, however often and by which user it is confirmed', async () => {
    const owner = await context.shop.foyer.addUser({ email: 'owner@example.org' });
    await db().transaction((trx) => importPartnerDeals(trx, [{ email: owner.email, tier: 2 }], Date.now()));
    const [one, two] = await Promise.all([
      context.shop.membership.takeDeal(owner),
      context.shop.membership.takeDeal(owner),
    ]);
    expect([one?.tier, two?.tier]).toEqual([2, 2]);
    // The user changes the address, and another user gets the former one.
    await db()
      .db.updateTable('users')
      .set({ email: toNormalisedEmail('moved@example.org') })
      .where('id', '=', owner.id)
      .execute();
    const next = await context.shop.foyer.addUser({ email: 'owner@example.org' });
    expect(await context.shop.membership.takeDeal(next)).toBeUndefined();
    expect([await planOf(owner), await planOf(next)]).toEqual([context.shop.membership.catalogue.ofTier(2)?.id, null]);
  });

  it('No page or call gives a paid plan or a partner’s plan without a payment or a deal', async () => {
    const user = await context.shop.foyer.addUser();
    const browser = await context.shop.foyer.signedIn(user);
    const call = await asMember(context.shop, user);
    for (const planId of ['10', '13', '101', '103']) {
      await browser.post(`/plan-purchase/${planId}`, { act: 'free', planId, dueCents: '0' });
      await browser.post('/plan-purchase/1', { act: 'free', planId, dueCents: '0' });
      await browser.post('/signup/verifiedCode', { act: 'free', planId, dueCents: '0' });
      await browser.post(`/plan-purchase/${planId}/addPayment`, { act: '', planId, dueCents: '0' });
      await browser.post(`/plan-purchase-appsumo/?plan=${planId}`, { planId });
      await browser.post(`/plan-purchase-appsumo/${planId}`, { planId });
      const { id } = (await call('POST', '/user/getUser', {})).body as { id?: string };
      await call('POST', '/user/updateUser', { id: id ?? user.id, planId });
      expect([planId, await planOf(user)]).toEqual([planId, null]);
    }
    expect(await orders(user)).toEqual([]);
  });

  it('A user who changes the address during a Stripe call has one subscription with one trial', async () => {
    const user = await context.shop.foyer.addUser({ email: 'moving@example.org' });
    const other = await context.shop.foyer.addUser({ email: 'moving.on+1@example.org' });
    expect((await context.shop.membership.ensure(other, 7)).status).toBe('trialing');
    context.shop.stripe.fault('lost', (method, path) => method === 'POST' && path === '/v1/subscriptions');
    await expect(context.shop.membership.ensure(user, 7)).rejects.toThrow(StripeUnavailableError);
    await db()
      .db.updateTable('users')
      .set({ email: toNormalisedEmail('moving.on@example.org') })
      .where('id', '=', user.id)
      .execute();
    const moved = await context.shop.userNow(user);
    expect(await context.shop.membership.ensure(moved, 30)).toMatchObject({ status: 'trialing', trialDays: 7 });
    const customer = (await standing(user))?.customerId ?? '';
    expect((await context.stripe.subscriptions.list({ customer, status: 'all' })).data).toHaveLength(1);
  });
});
