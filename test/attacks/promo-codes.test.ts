import { asMember } from '../billing/api-steps.ts';
import { cards, dayMs, from, startShop } from '../billing/steps.ts';
import { toPlanId } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';
import { setUpPromoCodes } from './promo-steps.ts';

const minuteMs = 60_000;

describe('attacks on promotion codes', () => {
  const context = setUpPromoCodes();
  const { standing, customerOf, member, taken, discountsOf, code, apply, buyWith } = context;

  it('A code does not survive an abandoned purchase, neither for the next purchase nor for a renewal', async () => {
    const half = await code({ percent_off: 50 });
    const user = await member();
    await context.shop.buy(user, 'm-99');
    await context.shop.saveCard(user, cards.chargeDeclined);
    expect(await buyWith(user, 'm-499', half.word)).toMatchObject({ kind: 'declined' });
    await context.shop.membership.choose(user, context.shop.plan('m-899'));
    expect(await discountsOf(user)).toBe(0);
    await context.shop.saveCard(user, cards.visa);
    context.shop.passTime(30 * dayMs + minuteMs);
    await context.shop.membership.refresh(user.id);
    expect(await taken(user)).toEqual([9_900, 9_900]);
  });

  it('A renewal does not use the code of an upgrade that was started just before it', async () => {
    const half = await code({ percent_off: 50 });
    const user = await member();
    await context.shop.buy(user, 'm-99');
    context.shop.passTime(30 * dayMs - 40 * minuteMs);
    for (const minutes of [40, 15]) {
      await context.shop.saveCard(user, cards.chargeDeclined);
      await context.shop.membership.choose(user, context.shop.plan('y-5000'));
      await context.shop.membership.applyPromotion(user, half.word, from);
      await context.shop.buy(user, 'y-5000').catch(() => {});
      await context.shop.saveCard(user, cards.visa);
      // As in production, the jobs run every minute.
      for (let passed = 0; passed < (minutes === 40 ? 25 : 16); passed += 5) {
        context.shop.passTime(5 * minuteMs);
        await context.shop.membership.work();
      }
    }
    await context.shop.membership.refresh(user.id);
    expect(await taken(user)).toEqual([9_900, 9_900]);
  });

  it('Two tabs that apply two codes at once apply one of them', async () => {
    const [one, two] = [await code({ percent_off: 50 }), await code({ percent_off: 40 })];
    const user = await member();
    await context.shop.membership.choose(user, context.shop.plan('m-499'));
    const answers = await Promise.all(
      [one, two, one, two].map(({ word }) => context.shop.membership.applyPromotion(user, word, from)),
    );
    expect(answers.filter(({ kind }) => kind === 'applied')).toHaveLength(1);
    expect(answers).toContainEqual({ kind: 'refused', refusal: { kind: 'second' } });
  });

  it('A code is not combined with one that continues with every renewal', async () => {
    const [always, half] = [await code({ percent_off: 20, duration: 'forever' }), await code({ percent_off: 50 })];
    const user = await member();
    expect(await buyWith(user, 'm-99', always.word)).toMatchObject({ kind: 'paid' });
    expect(await buyWith(user, 'm-499', half.word)).toMatchObject({ kind: 'paid' });
    expect(await discountsOf(user)).toBeLessThanOrEqual(1);
    context.shop.passTime(30 * dayMs + minuteMs);
    await context.shop.membership.refresh(user.id);
    expect((await taken(user)).at(-1)).toBe(49_900);
  });

  it('An abandoned purchase is not stuck when the code before it cannot be applied again', async () => {
    const first = await code(
      { percent_off: 20, duration: 'forever' },
      { restrictions: { first_time_transaction: true } },
    );
    const half = await code({ percent_off: 50 });
    const user = await member();
    expect(await buyWith(user, 'm-99', first.word)).toMatchObject({ kind: 'paid' });
    await context.shop.saveCard(user, cards.chargeDeclined);
    expect(await buyWith(user, 'm-499', half.word)).toMatchObject({ kind: 'declined' });
    expect((await context.shop.membership.choose(user, context.shop.plan('m-899'))).plan.code).toBe('m-899');
    // The announced discount of 20 % on every renewal is restored, the one of 50 % is not.
    expect(await standing(user)).toMatchObject({ discount: { percentOff: 20 } });
  });

  it('A code for a first purchase is refused for the second', async () => {
    const first = await code({ percent_off: 50 }, { restrictions: { first_time_transaction: true } });
    const user = await member();
    await context.shop.buy(user, 'm-99');
    expect(await apply(user, 'm-499', first.word)).toMatchObject({ refusal: { kind: 'first-purchase-only' } });
  });

  it('The last use of a code goes to one of two members at once, and the other pays only what the page says', async () => {
    const last = await code({ percent_off: 50 }, { max_redemptions: 1 });
    const [one, two] = [await member(), await member()];
    for (const user of [one, two]) expect(await apply(user, 'm-99', last.word)).toMatchObject({ kind: 'applied' });
    const said = { planId: toPlanId('10'), dueCents: 4_950 };
    const kinds = (await Promise.all([one, two].map((user) => context.shop.membership.confirm(user, said, from)))).map(
      ({ kind }) => kind,
    );
    expect(kinds.sort()).toEqual(['changed', 'paid']);
    expect([...(await taken(one)), ...(await taken(two))]).toEqual([4_950]);
  });

  it('The id of a coupon does not bypass the conditions of its codes', async () => {
    const other = await member();
    const bound = await code(
      { id: 'VIP-ONLY', percent_off: 100 },
      { code: 'VIP-4711', customer: await customerOf(other) },
    );
    const user = await member();
    for (const word of [bound.coupon, bound.word]) {
      expect(await apply(user, 'm-99', word)).toMatchObject({ refusal: { kind: 'unknown' } });
    }
    const call = await asMember(context.shop, user);
    for (const word of [bound.coupon, bound.word]) {
      expect((await call('GET', `/customer/coupons/${word}`)).status).toBe(404);
    }
    expect(await apply(other, 'm-99', bound.word)).toMatchObject({ kind: 'applied' });
  });

  it('One code text that several customers have gives each of them the own code', async () => {
    const [one, two] = [await member(), await member()];
    for (const [user, percent] of [
      [one, 10],
      [two, 30],
    ] as const) {
      await code({ percent_off: percent }, { code: 'MYGIFT', customer: await customerOf(user) });
    }
    for (const [user, percent] of [
      [one, 10],
      [two, 30],
    ] as const) {
      expect(await apply(user, 'm-99', 'MYGIFT')).toMatchObject({
        purchase: { promotion: { percentOff: percent } },
      });
    }
    expect(await apply(await member(), 'm-99', 'MYGIFT')).toMatchObject({ refusal: { kind: 'unknown' } });
  });

  it('A fixed discount of an expensive plan does not make a cheap plan free for ever', async () => {
    const fixed = await code({ amount_off: 40_000, currency: 'usd', duration: 'forever' });
    const user = await member();
    expect(await apply(user, 'm-99', fixed.word)).toMatchObject({ refusal: { kind: 'minimum' } });
    expect(await buyWith(user, 'm-499', fixed.word)).toMatchObject({ kind: 'paid' });
    const { next } = await context.shop.membership.quote(user, context.shop.plan('m-99'), null);
    expect(next?.amountCents).toBe(9_900);
    expect(await context.shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    for (let day = 0; day < 31; day += 1) {
      context.shop.passTime(dayMs);
      await context.shop.membership.work();
    }
    await context.shop.membership.refresh(user.id);
    expect(await taken(user)).toEqual([9_900, 9_900]);
  });

  it('A fixed discount that a plan change removed returns when the change is taken back', async () => {
    const fixed = await code({ amount_off: 40_000, currency: 'usd', duration: 'forever' });
    const user = await member();
    await buyWith(user, 'm-499', fixed.word);
    await context.shop.buy(user, 'm-99');
    context.shop.passTime(28 * dayMs);
    await context.shop.membership.work();
    expect(await context.shop.membership.resume(user)).toBe('resumed');
    context.shop.passTime(3 * dayMs);
    await context.shop.membership.refresh(user.id);
    expect(await taken(user)).toEqual([9_900, 9_900]);
    expect((await context.shop.userNow(user)).planId).toBe('12');
  });

  it('A code is removed together with the plan that it was for', async () => {
    const half = await code({ percent_off: 50 });
    const user = await member();
    await apply(user, 'm-499', half.word);
    const changed = await context.shop.membership.choose(user, context.shop.plan('m-99'));
    expect(changed.promotion).toBeNull();
    expect(
      await context.shop.membership.confirm(user, { planId: toPlanId('10'), dueCents: 4_950 }, from),
    ).toMatchObject({
      kind: 'changed',
    });
    expect(await taken(user)).toEqual([]);
  });

  it('A price that a code pays in full gives no credit', async () => {
    const all = await code({ percent_off: 100 });
    const user = await member();
    expect(await buyWith(user, 'y-900', all.word)).toMatchObject({ kind: 'paid' });
    const { dueCents, unusedCents } = await context.shop.membership.quote(user, context.shop.plan('m-499'), null);
    expect([dueCents, unusedCents]).toEqual([49_900, 0]);
  });

  it('Guesses at codes through pages or calls are limited', async () => {
    const guesser = await startShop(anyBackend, { CARD_LIMIT_MEMBER: '2', CARD_LIMIT_ADDRESS: '1000' });
    try {
      const user = await guesser.foyer.addUser();
      const browser = await guesser.foyer.signedIn(user);
      const call = await asMember(guesser, user);
      const statuses: number[] = [];
      for (let guess = 0; guess < 6; guess += 1) {
        const form = { act: 'promo', planId: '10', promo: `GUESS${guess}` };
        statuses.push((await browser.post('/plan-purchase/10', form)).status);
      }
      expect(statuses).toEqual([400, 400, 400, 400, 429, 429]);
      const asked: number[] = [];
      for (let guess = 0; guess < 14; guess += 1) asked.push((await call('GET', `/customer/coupons/G${guess}`)).status);
      expect(asked[0]).toBe(404);
      expect(asked.at(-1)).toBe(429);
      // The refusal holds in the next minute too.
      guesser.foyer.passTime(2 * minuteMs);
      expect((await call('GET', '/customer/coupons/G20')).status).toBe(429);
    } finally {
      await guesser.close();
    }
  });
});
