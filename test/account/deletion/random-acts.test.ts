import type Stripe from 'stripe';
import type { User } from '../../../server/users/index.ts';
import { type Shop, startShop } from '../../billing/steps.ts';
import { backends } from '../../support/stores.ts';
import { askToLeave } from './steps.ts';

/** A member's decisions as they made them: the plan ends with its period, changes to a cheaper plan then, or goes on. */
interface Decided {
  after: 'goes-on' | 'ends' | 'cheaper';
  leaving: boolean;
}

const acts = ['cancel', 'resume', 'downgrade', 'leave', 'stay', 'away', 'back', 'job'] as const;

/** Repeatable: the same numbers for the same seed (Park and Miller's generator). */
function randomNumbers(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

describe.each(backends)('actions on a plan, leaving and staying in any order, on $name', (backend) => {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    shop = await startShop(backend, { CARD_LIMIT_ADDRESS: '1000' });
    stripe = shop.stripe.client();
  });
  afterAll(() => shop?.close());

  const subscriptionOf = async ({ id }: User) =>
    stripe.subscriptions.retrieve((await shop.membership.getMembership(id))?.subscriptionId ?? '', {
      expand: ['schedule'],
    });

  async function run(seed: number): Promise<string[]> {
    const random = randomNumbers(seed);
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    await shop.saveCard(user);
    await shop.buy(user, 'm-499');
    const decided: Decided = { after: 'goes-on', leaving: false };
    const done: string[] = [];
    let isAway = false;
    const comeBack = async () => {
      isAway = false;
      shop.foyer.passTime(5 * 60_000);
      await shop.membership.work();
    };
    for (let step = 0; step < 9; step += 1) {
      const act = acts[random(acts.length)] ?? 'job';
      if (decided.leaving && ['cancel', 'resume', 'downgrade', 'leave'].includes(act)) continue;
      done.push(act);
      if (act === 'cancel') {
        await shop.membership.cancel(user);
        decided.after = 'ends';
      } else if (act === 'resume') {
        await shop.membership.resume(user);
        decided.after = 'goes-on';
      } else if (act === 'downgrade' && !isAway) {
        await shop.buy(user, 'm-99');
        decided.after = 'cheaper';
      } else if (act === 'leave') {
        await askToLeave(await shop.foyer.signedIn(user));
        decided.leaving = true;
      } else if (act === 'stay' && decided.leaving) {
        await shop.foyer.signedIn(user);
        decided.leaving = false;
      } else if (act === 'away' && !isAway) {
        isAway = true;
        for (let tries = 0; tries < 60; tries += 1) shop.stripe.fault('unreachable', () => isAway);
      } else if (act === 'back') await comeBack();
      else if (act === 'job') await shop.membership.work();
    }
    await comeBack();
    const { cancel_at: endsAt, schedule } = await subscriptionOf(user);
    const phases = typeof schedule === 'object' && schedule ? schedule.phases.length : 1;
    const found = phases > 1 ? 'cheaper' : endsAt === null ? 'goes-on' : 'ends';
    const wanted = decided.leaving ? 'ends' : decided.after;
    return found === wanted ? [] : [`seed ${seed}: ${done.join(', ')}: ${found} instead of ${wanted}`];
  }

  it('Once Stripe answers, the plan ends or continues as the member decided last', async () => {
    const wrong: string[] = [];
    for (let seed = 25; seed <= 36; seed += 1) wrong.push(...(await run(seed * 7_919)));
    expect(wrong).toEqual([]);
  });
});
