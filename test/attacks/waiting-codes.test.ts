import type { User } from '../../server/users/index.ts';
import { cards } from '../billing/steps.ts';
import { setUpPromoCodes } from './promo-steps.ts';

const minuteMs = 60_000;

describe('attacks on promotion codes of payments that wait', () => {
  const context = setUpPromoCodes();
  const { standing, member, taken, discountsOf, code, apply, buyWith } = context;

  it('A code for one use is not used up by a declined card, another plan or a payment that was left for an hour', async () => {
    const another = async (word: string, user: User) => {
      await context.shop.saveCard(user);
      expect(await context.shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid', order: { voucher: word } });
    };
    const endings: Record<string, (word: string, user: User) => Promise<void>> = {
      'another card': another,
      'another plan': async (word, user) => {
        await context.shop.saveCard(user);
        expect(await buyWith(user, 'm-499', word)).toMatchObject({ kind: 'paid', order: { voucher: word } });
      },
      'an hour later': async (word, user) => {
        for (let passed = 0; passed < 80; passed += 5) {
          context.shop.passTime(5 * minuteMs);
          await context.shop.membership.work();
        }
        await another(word, user);
      },
    };
    for (const end of Object.values(endings)) {
      const last = await code({ percent_off: 50 }, { max_redemptions: 1 });
      const user = await member(cards.chargeDeclined);
      expect(await buyWith(user, 'm-99', last.word)).toMatchObject({ kind: 'declined' });
      await end(last.word, user);
      expect(await taken(user)).toHaveLength(1);
      expect(await apply(await member(), 'm-99', last.word)).toMatchObject({ refusal: { kind: 'used-up' } });
    }
  });

  it('A coupon for one product is accepted for the plan of that product alone, also as an upgrade', async () => {
    const product = (await context.stripe.prices.list({ lookup_keys: ['m-499'] })).data[0]?.product;
    const growth = await code({ percent_off: 50, applies_to: { products: [String(product)] } });
    const user = await member();
    expect(await apply(user, 'm-99', growth.word)).toMatchObject({ refusal: { kind: 'not-for-this-plan' } });
    await context.shop.buy(user, 'm-99');
    expect(await buyWith(user, 'm-499', growth.word)).toMatchObject({ kind: 'paid' });
    expect((await context.shop.userNow(user)).planId).toBe('12');
  });

  it('A renewal keeps its own discount while an upgrade with a code waits for its payment', async () => {
    const [always, half] = [await code({ percent_off: 20, duration: 'forever' }), await code({ percent_off: 50 })];
    const user = await member();
    await buyWith(user, 'm-99', always.word);
    await context.shop.saveCard(user, cards.chargeDeclined);
    expect(await buyWith(user, 'm-499', half.word)).toMatchObject({ kind: 'declined' });
    expect(await standing(user)).toMatchObject({ discount: { percentOff: 20 }, pending: { planId: '12' } });
    await context.shop.saveCard(user, cards.visa);
    expect(await context.shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    expect(await discountsOf(user)).toBe(0);
  });

  it('A renewal while an upgrade with a code waits does not take the code, and the code is not used up', async () => {
    const [always, last] = [
      await code({ percent_off: 20, duration: 'forever' }),
      await code({ percent_off: 50 }, { max_redemptions: 1 }),
    ];
    const user = await member();
    await buyWith(user, 'm-99', always.word);
    const { periodEnd } = (await standing(user)) ?? {};
    context.shop.passTime((periodEnd ?? 0) - context.shop.stripe.engine.nowMs() - 5 * minuteMs);
    await context.shop.saveCard(user, cards.chargeDeclined);
    expect(await buyWith(user, 'y-5000', last.word)).toMatchObject({ kind: 'declined' });
    await context.shop.saveCard(user, cards.visa);
    // The renewal is drafted and charged, while the job gives the upgrade up after its hour.
    for (let passed = 0; passed < 3 * 60; passed += 10) {
      context.shop.passTime(10 * minuteMs);
      await context.shop.membership.work();
    }
    await context.shop.membership.refresh(user.id);
    expect(await taken(user)).toEqual([7_920, 7_920]);
    expect(await standing(user)).toMatchObject({ paidPlanId: '10', discount: { percentOff: 20 } });
    // Another member can use it.
    expect(await buyWith(await member(), 'm-99', last.word)).toMatchObject({ kind: 'paid' });
  });
});
