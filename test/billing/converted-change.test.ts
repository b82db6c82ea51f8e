import { setUpChanges } from './scheduled-steps.ts';

/** An earlier release put the next plan's price on the subscription some days before the change. */
describe('a change that an earlier release has put on the subscription', () => {
  const context = setUpChanges();
  const { standing, planOf, buyer, subscriptionOf, paid, daysPass } = context;

  /** A member of Scale whose subscription goes on as Starter, with the former price noted or not. */
  async function converted({ archived }: { archived: boolean }) {
    const user = await buyer();
    const { shop, stripe } = context;
    const starter = await shop.membership.deps.prices.priceIdFor(shop.plan('m-99'));
    const { id, items } = await subscriptionOf(user);
    const [item] = items.data;
    if (!item) throw new Error('the subscription has no item');
    if (archived) {
      const { lookup_key: key, product, recurring, currency } = item.price;
      const period = { interval: recurring?.interval ?? 'month', interval_count: recurring?.interval_count ?? 1 };
      await stripe.prices.create({
        product: String(product),
        currency,
        unit_amount: 99_900,
        recurring: period,
        lookup_key: key ?? '',
        transfer_lookup_key: true,
        metadata: { ...item.price.metadata },
      });
      await stripe.prices.update(item.price.id, { active: false });
    }
    await stripe.subscriptions.update(id, {
      items: [{ id: item.id, price: starter }],
      trial_end: item.current_period_end,
      proration_behavior: 'none',
      metadata: { foyer_next_plan: '10', foyer_price_before: item.price.id },
    });
    await shop.membership.refresh(user.id);
    expect(await standing(user)).toMatchObject({ status: 'trialing', pricedPlanId: '10', paidPlanId: '14' });
    return { user, formerPrice: item.price.id };
  }

  it('It takes effect at the end of the period unless the member takes it back', async () => {
    const { user } = await converted({ archived: false });
    await daysPass(31);
    await context.shop.membership.refresh(user.id);
    expect([await planOf(user), await paid(user)]).toEqual(['10', [9_900, 89_900]]);
  });

  // The one with another price comes last: it is what later members would pay.
  it.each([false, true])('It is taken back to the price that the member has paid (archived: %s)', async (archived) => {
    const { user, formerPrice } = await converted({ archived });
    expect(await planOf(user)).toBe('14');
    expect(await context.shop.membership.resume(user)).toBe('resumed');
    expect((await subscriptionOf(user)).items.data[0]?.price.id).toBe(formerPrice);
    expect((await context.stripe.prices.retrieve(formerPrice)).active).toBe(!archived);
    await daysPass(31);
    await context.shop.membership.refresh(user.id);
    expect(await paid(user)).toEqual([89_900, 89_900]);
  });
});
