import type { User } from '../../server/users/index.ts';
import { cards, dayMs, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { anyBackend } from '../support/stores.ts';
import { path } from './membership-steps.ts';

const hourMs = 60 * 60_000;

/** The states of a membership, the actions that its page offers, and the next charge in cents. */
describe('the actions of each state of a membership', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
  });
  afterAll(() => shop?.close());

  const membershipOf = async ({ id }: User) => {
    const found = await shop.membership.getMembership(id);
    if (!found) throw new Error('there is no membership');
    return found;
  };
  const buy = async (user: User, ...codes: string[]) => {
    await shop.saveCard(user);
    for (const code of codes) expect(['paid', 'scheduled']).toContain((await shop.buy(user, code)).kind);
  };
  const failRenewal = async (user: User) => {
    await shop.saveCard(user);
    await shop.buy(user, 'm-99');
    const { card } = await membershipOf(user);
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
    shop.passTime(30 * dayMs + hourMs);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ unpaid: { amountCents: 9_900 } });
  };
  const subscriptionPath = async (user: User) => `/v1/subscriptions/${(await membershipOf(user)).subscriptionId}`;

  type State = [name: string, make: (user: User) => Promise<unknown>, acts: string[], nextCents: number | null];
  it.each<State>([
    ['none', async () => {}, ['choose'], null],
    ['a free plan', (user) => shop.membership.takeFree(user, shop.plan('m-free')), ['choose'], null],
    ['a trial', (user) => shop.membership.ensure(user, 7), ['choose'], null],
    [
      'a trial that is over',
      async (user) => {
        await shop.membership.ensure(user, 7);
        shop.passTime(8 * dayMs);
      },
      ['choose'],
      null,
    ],
    ['a paid plan', (user) => buy(user, 'm-499'), ['cancel', 'choose'], 49_900],
    ['a plan that another follows', (user) => buy(user, 'm-499', 'm-99'), ['cancel', 'choose', 'resume'], 9_900],
    [
      'a plan that ends',
      async (user) => {
        await buy(user, 'm-499');
        await shop.membership.cancel(user);
      },
      ['choose', 'resume'],
      null,
    ],
    // The open invoice is paid first; the charge after it is that of the next period.
    ['days of grace', failRenewal, ['cancel', 'choose', 'pay'], 9_900],
    [
      'no days of grace',
      async (user) => {
        await failRenewal(user);
        shop.passTime(8 * dayMs);
        await shop.membership.work();
        await shop.membership.refresh(user.id);
        await failRenewal(user);
      },
      ['cancel', 'choose', 'pay'],
      9_900,
    ],
    [
      'a paused plan',
      async (user) => {
        await buy(user, 'y-5000');
        shop.stripe.engine.call({ method: 'POST', path: `${await subscriptionPath(user)}/pause` });
      },
      ['cancel'],
      null,
    ],
    [
      'a plan that is over',
      async (user) => {
        await buy(user, 'm-499');
        shop.stripe.engine.call({ method: 'DELETE', path: await subscriptionPath(user) });
      },
      ['choose'],
      null,
    ],
  ])('%s offers its actions alone, and announces its next charge alone', async (_name, make, acts, nextCents) => {
    const user = await shop.foyer.addUser();
    await make(user);
    const membership = await shop.membership.refresh(user.id);
    expect(membership?.nextCharge?.amountCents ?? null).toBe(nextCents);
    const html = await (await (await shop.foyer.signedIn(user)).get(path)).text();
    const offered = ['pay', 'cancel', 'resume'].filter((act) => html.includes(`"${path}/${act}"`));
    if (html.includes('"/plan-purchase"')) offered.push('choose');
    expect(offered.toSorted()).toEqual(acts);
  });
});
