import type Stripe from 'stripe';
import type { BillingDeps } from '../deps.ts';
import { callStripe } from '../stripe/stripe-client.ts';
import { agreedByKey, toId, toSavedCard } from '../stripe/stripe-objects.ts';
import type { SavedCard } from '../subscription/membership.ts';

/** The SEPA debit that a setup by iDEAL or Bancontact has left (`generated_sepa_debit`). */
interface AgreedDebit {
  agreedBy: 'ideal' | 'bancontact';
  debitId: string;
  lastFour: string;
}

/** @param intent with its latest attempt expanded */
function findAgreedDebit({ latest_attempt: attempt }: Stripe.SetupIntent): AgreedDebit | undefined {
  const details = attempt && typeof attempt !== 'string' ? attempt.payment_method_details : undefined;
  const agreedBy = details?.ideal ? 'ideal' : 'bancontact';
  const debit = details?.[agreedBy]?.generated_sepa_debit;
  return debit ? { agreedBy, debitId: toId(debit), lastFour: details[agreedBy]?.iban_last4 ?? '' } : undefined;
}

/**
 * The payment method that a setup leaves. One of iDEAL or Bancontact is used up: its debit stays, and gets the name of
 * that method, which Stripe does not tell with it.
 * @throws {StripeUnavailableError}
 */
export async function readSetMethod(
  { stripe }: Pick<BillingDeps, 'stripe'>,
  intent: Stripe.SetupIntent,
): Promise<Stripe.PaymentMethod | null> {
  const agreed = findAgreedDebit(intent);
  const { payment_method: method } = intent;
  if (!agreed) return typeof method === 'string' ? null : method;
  const metadata = { [agreedByKey]: agreed.agreedBy };
  return callStripe(stripe, (client) => client.paymentMethods.update(agreed.debitId, { metadata }));
}

/** The same for a page; nothing is written. */
export function toSetMethodView(intent: Stripe.SetupIntent): SavedCard | null {
  const agreed = findAgreedDebit(intent);
  if (!agreed) return toSavedCard(intent.payment_method);
  const { agreedBy: brand, debitId: paymentMethodId, lastFour } = agreed;
  return { paymentMethodId, brand, lastFour, expMonth: null, expYear: null };
}
