import { z } from 'zod';
import { aliasMeta, doc } from '../../http/index.ts';

// Descriptions and examples of the fields that several calls of this module have.

const ignored = 'Accepted and ignored: personal data come from the account';

export const billingDocs = {
  customerId: doc('Id of the customer at Stripe', 'cus_QK2v7Yd1'),
  subscriptionId: doc('Id of the subscription at Stripe', 'sub_1Nk3Xy'),
  planId: doc('Id of the plan', '12'),
  invoiceId: doc('Id of the paid invoice at Stripe', 'in_1Nk4Ab'),
  code: doc('The promotion code, as members type it', 'WELCOME20'),
  currency: doc('Currency (ISO 4217), lower case', 'usd'),
  amountToday: doc('What is charged today, a decimal text', '79.20'),
  purchaseType: doc('`plan`', 'plan'),
};

export const customerDocs = {
  first_name: doc(ignored, 'Ada'),
  last_name: doc(ignored, 'Lovelace'),
  email: doc('Email address of the member', 'ada@example.com'),
  company: doc(ignored, 'Engines Ltd'),
  position: doc(ignored, 'Analyst'),
  phone: doc(ignored, '+4915112345678'),
  zip: doc(ignored, '10115'),
  country: doc(ignored, 'DE'),
  plan_name: doc('Name of the plan on which members begin; another value is refused', 'Basic-Plan-M'),
  currency: billingDocs.currency,
  quantity: doc('1; another value is refused', 1),
  trial_end: doc('Length of the trial in days; another value is refused', 7),
  interval: doc('`month`; another value is refused', 'month'),
};

export const orderDocs = {
  id: doc('Id of the order', '0197c2a6-2b40-7c8e-b3a1-9d7f5e3c1a08'),
  invoiceId: billingDocs.invoiceId,
  orderDate: doc('Time of the payment, in milliseconds since the epoch', 1_795_510_200_000),
  orderPurchase: doc('`plan`', 'plan'),
  orderType: doc('`upgrade` or `renewal`', 'upgrade'),
  totalAmountPaid: doc('The amount paid, a decimal text', '79.20'),
  usedCredits: doc('Credit of the customer that was used, a decimal text', '0.00'),
  userId: doc('Id of the member or of their user record', '0197c2a4-7b6e-7d31-9f0a-2c4e6a8b0d1f'),
  planId: billingDocs.planId,
};

export const detailsDocs = {
  name: doc('Name on the invoices; null: the name of the profile', 'Ada Lovelace'),
  company: doc('Company', 'Engines Ltd'),
  line1: doc('First line of the address', '12 Example Street'),
  line2: doc('Second line of the address', 'Floor 3'),
  postal_code: doc('Postal code', '10115'),
  city: doc('City', 'Berlin'),
  state: doc('State or province', 'Berlin'),
  country: doc('Country (ISO 3166-1 alpha-2)', 'DE'),
  vat_id: doc('VAT identification number', 'DE123456789'),
};

export const customerParams = {
  stripeCustomerId: z.string().max(100).brand<'StripeCustomerId'>().meta(billingDocs.customerId),
};

const percentDoc = doc('Percent off, 0 to 100; null: an amount instead', 20);
const coupon = z
  .object({
    id: z.string().meta(billingDocs.code),
    percent_off: z.number().nullable().meta(percentDoc),
    percent_off_precise: z.number().nullable().meta(percentDoc),
    amount_off: z.int().nullable().meta(doc('Amount off in cents; null: a percentage instead', null)),
  })
  .meta({ id: 'PromotionCode', description: 'What a promotion code takes off.' });
export const promotionCodeAnswer = z
  .object({
    data: coupon,
    id: coupon.shape.id.meta(aliasMeta('data.id')),
    percent_off: coupon.shape.percent_off.meta(aliasMeta('data.percent_off')),
    percent_off_precise: coupon.shape.percent_off_precise.meta(aliasMeta('data.percent_off_precise')),
    amount_off: coupon.shape.amount_off.meta(aliasMeta('data.amount_off')),
  })
  .meta({ id: 'PromotionCodeAnswer', description: 'A promotion code, at two levels.' });
