import type { Page } from 'playwright-core';
import { loadPlans } from '../../config/plans.ts';
import { createCatalogue, createStripe, syncPlans } from '../../server/billing/index.ts';
import { startStripe, stripeKeys, type TestStripe } from '../support/stripe.ts';

/** Stripe's stand-in, which sells the plans. */
export async function startStripeWithPlans(): Promise<TestStripe> {
  const stripe = await startStripe();
  const { secretKey } = stripeKeys;
  await syncPlans(createStripe({ secretKey, apiUrl: stripe.url }), createCatalogue(loadPlans()));
  return stripe;
}

/** The payments of the user with this address, in cents, the newest first. */
export async function charged(stripe: TestStripe, email: string): Promise<number[]> {
  const { data } = await stripe.client().customers.list({ email });
  const [customer] = data;
  if (!customer) return [];
  const invoices = await stripe.client().invoices.list({ customer: customer.id });
  return invoices.data.map(({ amount_paid: cents }) => cents).filter((cents) => cents > 0);
}

export async function enterCard(page: Page, number = '4242424242424242'): Promise<void> {
  const field = (name: string) => page.locator(`#field-${name}`);
  await field('name').fill('Vera Lindqvist');
  await field('number').locator('input').fill(number);
  await field('expiry').locator('input').fill('12 / 34');
  await field('cvc').locator('input').fill('123');
  await field('zip').fill('10115');
  await page.locator('form.needs-script button').click();
}
