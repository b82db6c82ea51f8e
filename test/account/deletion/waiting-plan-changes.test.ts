import type Stripe from 'stripe';
import type { User } from '../../../server/users/index.ts';
import { type Shop, startShop } from '../../billing/steps.ts';
import { backends } from '../../support/stores.ts';
import { askToLeave, dayMs } from './steps.ts';

describe.each(backends)('leaving or staying while actions on the plan wait for Stripe, on $name', (backend) => {
  let shop: Shop;
  let stripe: Stripe;
  let isAway = false;
  beforeAll(async () => {
    shop = await startShop(backend);
    stripe = shop.stripe.client();
  });
  afterEach(() => {
    isAway = false;
  });
  afterAll(() => shop?.close());

  const member = async () => {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    await shop.saveCard(user);
    await shop.buy(user, 'm-99');
    return user;
  };
  const goAway = () => {
    isAway = true;
    for (let tries = 0; tries < 30; tries += 1) shop.stripe.fault('unreachable', () => isAway);
  };
  const comeBack = async () => {
    isAway = false;
    shop.foyer.passTime(5 * 60_000);
    await shop.membership.work();
  };
  const leave = async (user: User, wish: Record<string, string> = {}) =>
    askToLeave(await shop.foyer.signedIn(user), wish);
  const stay = (user: User) => shop.foyer.signedIn(user);
  /** Stripe's state decides whether the renewal is charged. */
  const endsAtStripe = async ({ id }: User) => {
    const { subscriptionId } = (await shop.membership.getMembership(id)) ?? {};
    return (await stripe.subscriptions.retrieve(subscriptionId ?? '')).cancel_at_period_end;
  };

  /** A member whose cancellation Stripe knows, and whose resumption waits. */
  const memberWithWaitingResumption = async () => {
    const user = await member();
    expect(await shop.membership.cancel(user)).toBe('cancelled');
    goAway();
    expect(await shop.membership.resume(user)).toBe('noted');
    return user;
  };
  /** A member who stays while Stripe, which knows only of the request to leave, is away. */
  const memberWhoStaysDuringOutage = async () => {
    const user = await member();
    await leave(user);
    await shop.membership.work();
    expect(await endsAtStripe(user)).toBe(true);
    goAway();
    await stay(user);
    return user;
  };

  it('A cancellation that waits survives a request to delete the account and its withdrawal', async () => {
    const user = await member();
    goAway();
    expect(await shop.membership.cancel(user)).toBe('noted');
    await leave(user);
    await stay(user);
    await comeBack();
    expect(await endsAtStripe(user)).toBe(true);
  });

  it('A resumption that waits is not carried out for a member who leaves afterwards', async () => {
    const user = await memberWithWaitingResumption();
    await leave(user);
    await comeBack();
    expect(await endsAtStripe(user)).toBe(true);
  });

  it('A resumption that waits is carried out for a member who leaves and then stays', async () => {
    const user = await memberWithWaitingResumption();
    await leave(user);
    await stay(user);
    await comeBack();
    expect(await endsAtStripe(user)).toBe(false);
  });

  it('A member who stays and leaves again while Stripe is away is not charged for another period', async () => {
    const user = await memberWhoStaysDuringOutage();
    shop.foyer.passTime(dayMs / 24);
    await leave(user);
    await comeBack();
    expect(await endsAtStripe(user)).toBe(true);
  });

  it('A member who stays and cancels before Stripe has confirmed the renewal is not charged again', async () => {
    const user = await memberWhoStaysDuringOutage();
    expect(await shop.membership.getMembership(user.id)).toMatchObject({ cancelAtPeriodEnd: false, noted: 'resume' });
    expect(await shop.membership.cancel(user)).toBe('noted');
    expect(await shop.membership.getMembership(user.id)).toMatchObject({ cancelAtPeriodEnd: true, noted: 'cancel' });
    await comeBack();
    expect(await endsAtStripe(user)).toBe(true);
  });
});
