import { cliOf } from '../support/cli.ts';
import { toPlanId } from '../support/ids.ts';
import { prepareComparison } from './reconcile-steps.ts';
import { cards, dayMs } from './steps.ts';

describe('foyer billing', () => {
  const { shop, stripe, operator, db, standing, reconcile, buyer, subscribe } = prepareComparison();

  it('The command diff changes nothing and exits with 1, reconcile repairs, then both exit with 0', async () => {
    const user = await buyer();
    await db()
      .updateTable('users')
      .set({ planId: toPlanId('15') })
      .where('id', '=', user.id)
      .execute();
    const before = await operator('billing', 'diff');
    expect(before.code).toBe(1);
    expect(before.out).toMatch(new RegExp(`^differs +plan +${user.id} +cus_\\w+ +plan: 15, not 10$`, 'm'));
    expect(before.err).toBe('1 difference between Foyer and Stripe.\n');
    expect((await shop().userNow(user)).planId).toBe('15');
    const mended = await operator('billing', 'reconcile', '--json');
    expect(mended).toMatchObject({ code: 0, err: '' });
    expect(mended.json()).toMatchObject({
      ok: true,
      differences: [],
      repaired: [{ what: 'plan', user: user.id, detail: 'plan: 15, not 10' }],
    });
    expect((await shop().userNow(user)).planId).toBe('10');
    const after = await operator('billing', 'diff', '--json');
    expect(after).toMatchObject({ code: 0, err: '' });
    expect(after.json()).toMatchObject({ ok: true, differences: [], repaired: [] });
  });

  it('The command reconcile exits with 1 when something is left, and the running Foyer mails what is new', async () => {
    const user = await buyer();
    const { customerId, card } = (await standing(user)) ?? {};
    const second = await subscribe(customerId ?? '', card?.paymentMethodId ?? '');
    const run = await operator('billing', 'reconcile');
    expect(run.code).toBe(1);
    expect(run.out).toMatch(/^differs +two subscriptions +/m);
    expect(run.out).toMatch(/^mended +order missing +/m);
    expect((await shop().foyer.mails(user.email)).filter(({ template }) => template === 'receipt')).toHaveLength(2);
    await stripe().subscriptions.cancel(second.id);
  });

  it('The commands use the time of the sandbox’s stand-in, which its page can move', async () => {
    const user = await buyer();
    shop().stripe.engine.setCardBehaviour((await standing(user))?.card?.paymentMethodId ?? '', cards.chargeDeclined);
    shop().passTime(40 * dayMs);
    await reconcile();
    // By the machine's time the plan would still be kept.
    expect((await shop().userNow(user)).planId).toBeNull();
    expect(await operator('billing', 'diff')).toMatchObject({ code: 0, err: '' });
  });

  it('The commands report that Stripe is away', async () => {
    const away = cliOf(shop().foyer, { ...shop().stripe.environment(), STRIPE_API_URL: 'http://127.0.0.1:9' });
    expect(await away('billing', 'diff')).toMatchObject({ code: 4, err: expect.stringMatching(/^Stripe: /) });
  });
});
