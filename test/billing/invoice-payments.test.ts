import { listOrders } from '../../server/billing/index.ts';
import { readInvoice } from '../../server/billing/stripe/read-stripe-snapshot.ts';
import type { User } from '../../server/users/index.ts';
import { toStripeInvoiceId } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';
import { cards, dayMs, type Shop, startShop } from './steps.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await startShop(anyBackend);
});
afterAll(() => shop?.close());

/** A member whose renewal was declined. @returns the open invoice */
async function withOpenInvoice(): Promise<{ user: User; invoiceId: string }> {
  const user = await shop.foyer.addUser();
  await shop.membership.ensure(user, 7);
  await shop.saveCard(user);
  await shop.buy(user, 'm-99');
  const { card } = (await shop.membership.getMembership(user.id)) ?? {};
  shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
  shop.passTime(30 * dayMs + 2 * 60 * 60_000);
  const { unpaid } = (await shop.membership.refresh(user.id)) ?? {};
  if (!unpaid) throw new Error('the renewal was paid');
  return { user, invoiceId: unpaid.invoiceId };
}

it('An invoice that was paid outside of Stripe has an order that names no card', async () => {
  const { user, invoiceId } = await withOpenInvoice();
  await shop.stripe.client().invoices.pay(invoiceId, { paid_out_of_band: true });
  await shop.membership.refresh(user.id);
  const [renewal, first] = await listOrders(shop.foyer.deps.database.db, user.id);
  expect(renewal).toMatchObject({ invoiceId, paidCents: 9_900, card: null });
  expect(first).toMatchObject({ paidCents: 9_900, card: { brand: 'visa', lastFour: '4242' } });
});

it('The state of an open invoice is that of its default payment, not of one that was added by hand', async () => {
  const { invoiceId } = await withOpenInvoice();
  const retrieve = async () => (await readInvoice(shop.membership.deps.stripe, toStripeInvoiceId(invoiceId))).payment;
  const own = await retrieve();
  expect(own?.status).toBe('requires_payment_method');
  const { id: other } = (await shop.stripe.client().paymentIntents.list({ limit: 100 })).data.find(
    ({ status }) => status === 'succeeded',
  ) ?? { id: '' };
  // The stand-in makes one payment for each invoice, so the second one is written into its state.
  const state: unknown = JSON.parse(JSON.stringify(shop.stripe.snapshot()), (_key, value) => {
    if (value?.object !== 'invoice' || value.id !== invoiceId || !value.payments) return value;
    const [first] = value.payments.data;
    const payment = { type: 'payment_intent', payment_intent: other };
    const data = [{ ...first, id: 'inpay_by_hand', is_default: false, payment }, first];
    return { ...value, payments: { ...value.payments, data } };
  });
  shop.stripe.restore(state);
  const { data } = (await shop.stripe.client().invoices.retrieve(invoiceId, { expand: ['payments'] })).payments ?? {};
  expect(data?.map(({ is_default: isDefault }) => isDefault)).toEqual([false, true]);
  expect((await retrieve())?.id).toBe(own?.id);
});
