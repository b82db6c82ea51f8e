import { billingDataSource } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { dayMs, manyCards, type Shop, startShop } from './steps.ts';
import { announcedIn, cancelPath, createSteps, yearWithRefund } from './year-with-refund-steps.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe.each(['inclusive', 'exclusive'] as const)('a following year with %s tax', (behaviour) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, {
      ...manyCards,
      PLANS_FILE: plansWith({ consumers: yearWithRefund, tax: { automatic: true, behaviour } }),
    });
  });
  afterAll(() => shop?.close());

  it('The refund has the tax that was paid for the time that is left', async () => {
    const steps = createSteps(shop);
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const browser = await steps.browser(user);
    const { cents, fields } = await steps.announced(browser);
    const endsAt = Number(fields.endsAt);
    const [invoice] = await steps.invoicesOf(user);
    const { start = 0, end = 0 } = invoice?.lines.data[0]?.period ?? {};
    expect(invoice?.amount_paid).toBe(behaviour === 'inclusive' ? 90_000 : 107_100);
    const part = ((invoice?.amount_paid ?? 0) * (end - endsAt / 1_000)) / (end - start);
    expect(Math.abs(cents - part)).toBeLessThanOrEqual(1);
    await browser.post(cancelPath, fields);
    await steps.passTo(user, endsAt + minuteMs);
    expect(await steps.notesOf(user)).toEqual([cents]);
    expect((await steps.ordersOf(user)).at(-1)).toMatchObject({ refundedCents: cents });
  });
});

/** Stripe keeps the invoice of a renewal as a draft for an hour, in which the following year is not paid yet. */
describe('the hour in which the renewal of a year is a draft', () => {
  let shop: Shop;
  let steps: ReturnType<typeof createSteps>;
  beforeAll(async () => {
    const PLANS_FILE = plansWith({ consumers: yearWithRefund });
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE }, { draftsRenewals: true });
    steps = createSteps(shop);
  });
  afterAll(() => shop?.close());

  async function renewingMember(): Promise<User> {
    const user = await steps.buyer();
    const { periodEnd } = await steps.stored(user);
    await steps.passTo(user, (periodEnd ?? 0) + 5 * minuteMs);
    return user;
  }

  it('The page names the charge and the end, and the amount comes when the year is paid', async () => {
    const user = await renewingMember();
    const browser = await steps.browser(user);
    const { words, fields } = announcedIn(await (await browser.get(cancelPath)).text());
    expect(words).toContain('Your renewal of $900.00 for the period until');
    expect(words).toContain('Then we give back what you paid for the time after that day.');
    expect(words).not.toContain('isn’t given back');
    expect((await browser.post(cancelPath, fields)).headers.get('location')).toContain('cancel-noted');
    for (let hours = 0; hours < 4; hours += 1) {
      shop.passTime(hourMs);
      await shop.membership.work();
    }
    const [mail] = await steps.mailsOf(user, 'plan-cancelled');
    expect(mail?.values).toMatchObject({ endsAt: Number(fields.endsAt) });
    await steps.passTo(user, Number(fields.endsAt) + minuteMs);
    expect(await steps.notesOf(user)).toEqual([mail?.values.refundCents]);
    expect((await steps.ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([90_000, 90_000]);
  });

  it('The member can also end the plan at once, and pays nothing', async () => {
    const user = await renewingMember();
    const browser = await steps.browser(user);
    const { fields } = await steps.announced(browser);
    await browser.post(cancelPath, { ...fields, when: 'now' });
    await steps.passTo(user, shop.stripe.engine.nowMs() + 40 * dayMs);
    expect((await steps.ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([90_000]);
    expect(await steps.notesOf(user)).toEqual([]);
    expect((await shop.userNow(user)).planId).toBeNull();
  });
});

it('A refund that was announced is made, though the member has deleted the account before the end', async () => {
  const shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWith({ consumers: yearWithRefund }) });
  try {
    const steps = createSteps(shop);
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const customer = await steps.customerOf(user);
    const browser = await steps.browser(user);
    const { cents, fields } = await steps.announced(browser);
    await browser.post(cancelPath, fields);
    const { database } = shop.foyer.deps;
    const billing = billingDataSource(database);
    await database.transaction(async (trx) => billing.erase(trx, user, shop.membership.deps.now()));
    shop.passTime(minuteMs);
    await shop.membership.work();
    shop.passTime(Number(fields.endsAt) + minuteMs - shop.stripe.engine.nowMs());
    await shop.membership.work();
    expect((await steps.stripe.creditNotes.list({ customer })).data.map(({ total }) => total)).toEqual([cents]);
    expect(await steps.stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
  } finally {
    await shop.close();
  }
});
