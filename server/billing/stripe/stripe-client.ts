import http from 'node:http';
import https from 'node:https';
import type Stripe from 'stripe';
import type { Logger } from '../../http/index.ts';
import { once, propertyIn, type StripeCustomerId } from '../../shared/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { StripeUnavailableError, TaxLocationError } from '../results.ts';
import { listTaxes, type TaxRate } from './stripe-invoices.ts';
import { findSchedule, laterPhases, plannedChange, toId } from './stripe-objects.ts';

interface StripeSettings {
  secretKey: string;
  /** Address of its API: `https://api.stripe.com`, or the sandbox's stand-in. */
  apiUrl: string;
}

/** The client of this process; the library is loaded at its first use. */
export type StripeClient = () => Promise<Stripe>;

/** Timeout of a request; the user waits. */
const timeoutMs = 20_000;

export function createStripe({ secretKey, apiUrl }: StripeSettings): StripeClient {
  return once(async () => {
    const { default: Library } = await import('stripe');
    const { hostname, port, protocol } = new URL(apiUrl);
    return new Library(secretKey, {
      host: hostname,
      ...(port !== '' && { port }),
      protocol: protocol === 'http:' ? 'http' : 'https',
      // Once, with the same idempotency key: Stripe replays a lost answer.
      maxNetworkRetries: 1,
      timeout: timeoutMs,
      telemetry: false,
      // Its own agents know no proxy.
      httpAgent: protocol === 'http:' ? http.globalAgent : https.globalAgent,
    });
  });
}

/** The content of Stripe's error (https://docs.stripe.com/api/errors). */
interface StripeRefusal {
  /** StripeCardError, StripeInvalidRequestError, StripeIdempotencyError … */
  type: string;
  code: string | undefined;
  /** Of a card's bank. */
  declineCode: string | undefined;
  message: string;
  statusCode: number | undefined;
}

/** undefined: not an error of the library. */
export function toStripeRefusal(error: unknown): StripeRefusal | undefined {
  if (
    !(error instanceof Error) ||
    !('type' in error) ||
    typeof error.type !== 'string' ||
    !/^Stripe/.test(error.type)
  ) {
    return undefined;
  }
  const [code, declineCode] = [propertyIn(error, 'code'), propertyIn(error, 'decline_code')];
  const statusCode = propertyIn(error, 'statusCode');
  return {
    type: error.type,
    code: typeof code === 'string' ? code : undefined,
    declineCode: typeof declineCode === 'string' ? declineCode : undefined,
    message: error.message,
    statusCode: typeof statusCode === 'number' ? statusCode : undefined,
  };
}

/** Tests whether the call can be repeated: its result is unknown, or Stripe was busy. */
function isConnectionError({ type, statusCode }: StripeRefusal): boolean {
  return (
    [
      'StripeConnectionError',
      'StripeAPIError',
      'StripeRateLimitError',
      'StripeAuthenticationError',
      'StripePermissionError',
    ].includes(type) ||
    // A parallel call has the same key, or changes the same customer.
    statusCode === 409 ||
    (statusCode !== undefined && statusCode >= 500)
  );
}

/** Calls Stripe. An unavailable Stripe becomes {@link StripeUnavailableError}; a refusal stays the library's error. */
export async function callStripe<T>(client: StripeClient, ask: (stripe: Stripe) => Promise<T>): Promise<T> {
  const stripe = await client();
  try {
    return await ask(stripe);
  } catch (error) {
    const refusal = toStripeRefusal(error);
    if (refusal && isConnectionError(refusal)) throw new StripeUnavailableError(refusal.message, { cause: error });
    throw error;
  }
}

/**
 * Tests whether Stripe reported an error: it repeats that for a day under the same key
 * (https://docs.stripe.com/api/idempotent_requests). If there was no answer at all, the key recovers the result.
 */
export const hasFailed = (error: unknown): boolean =>
  error instanceof StripeUnavailableError && (toStripeRefusal(error.cause)?.statusCode ?? 0) >= 500;

/** undefined if the object does not exist at Stripe. */
export async function orNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (toStripeRefusal(error)?.code === 'resource_missing') return undefined;
    throw error;
  }
}

/** The tax that Stripe computes by the place of a user; nothing is sold without it if the catalogue asks for it. */
type Taxing = Pick<Catalogue, 'tax'>;

interface TaxedClient {
  stripe: StripeClient;
  catalogue: Taxing;
}

/** For the calls that sell, and their previews: `automatic_tax`, if the catalogue asks for it. */
export const taxOfSales = ({ tax }: Taxing): { automatic_tax?: { enabled: true } } =>
  tax?.automatic ? { automatic_tax: { enabled: true } } : {};

/** Passes the error of a call on; that of an unknown place has a type of its own. */
async function withPlaceError<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const refusal = toStripeRefusal(error);
    if (refusal?.code !== 'customer_tax_location_invalid') throw error;
    throw new TaxLocationError(refusal.message, { cause: error });
  }
}

/**
 * A call that sells.
 * @throws {TaxLocationError} if Stripe does not know the place
 * @throws {StripeUnavailableError}
 */
export const callTaxed = <T>(client: StripeClient, ask: (stripe: Stripe) => Promise<T>): Promise<T> =>
  withPlaceError(callStripe(client, ask));

/**
 * A preview of a sale: without its tax nothing is announced.
 * @throws {TaxLocationError} if Stripe does not know the place
 * @throws {StripeUnavailableError}
 */
export async function previewTaxed(
  { stripe, catalogue }: TaxedClient,
  params: Stripe.InvoiceCreatePreviewParams,
): Promise<Stripe.Invoice> {
  const invoice = await callTaxed(stripe, (client) =>
    client.invoices.createPreview({ ...params, ...taxOfSales(catalogue) }),
  );
  if (!catalogue.tax?.automatic) return invoice;
  const { status } = invoice.automatic_tax;
  if (status === 'requires_location_inputs') throw new TaxLocationError('Stripe does not know the place of the user');
  if (status !== 'complete') throw new StripeUnavailableError(`Stripe has not computed the tax: ${status}`);
  return invoice;
}

/** Stripe's next invoice of a subscription with its schedule; null: there is none. @throws {StripeUnavailableError} */
export async function previewNextInvoice(
  { stripe }: Pick<TaxedClient, 'stripe'>,
  { id, schedule, customer }: Stripe.Subscription,
): Promise<Stripe.Invoice | null> {
  return callStripe(stripe, (client) =>
    client.invoices.createPreview({
      customer: toId(customer),
      ...(schedule === null ? { subscription: id } : { schedule: toId(schedule) }),
    }),
  ).catch((error: unknown) => {
    if (toStripeRefusal(error)?.code === 'invoice_upcoming_none') return null;
    throw error;
  });
}

/** The next charge without any discount, of a scheduled plan too. */
export function toWholePreview(stripe: StripeClient, subscription: Stripe.Subscription) {
  const { id, customer, items } = subscription;
  const { nextPriceId, nextSeats } = plannedChange(subscription, items.data[0]?.current_period_end ?? 0);
  const scheduled = nextPriceId !== undefined && { price: nextPriceId, quantity: nextSeats ?? 1 };
  const params: Stripe.InvoiceCreatePreviewParams = {
    customer: toId(customer),
    subscription: id,
    preview_mode: 'recurring',
    discounts: '',
    ...(scheduled && {
      subscription_details: {
        items: items.data.map((item) => ({ id: item.id, ...scheduled })),
        proration_behavior: 'none',
      },
    }),
  };
  return () => callStripe(stripe, (client) => client.invoices.createPreview(params));
}

/** Tests whether the tax of a subscription is computed as the catalogue asks. */
export const isTaxed = ({ tax }: Taxing, { automatic_tax: { enabled } }: Stripe.Subscription): boolean =>
  enabled || !tax?.automatic;

/** The same of the plans that its schedule begins later; true without any. @param subscription with its schedule */
export function isScheduleTaxed(
  { catalogue: { tax } }: { catalogue: Taxing },
  subscription: Stripe.Subscription,
): boolean {
  const schedule = findSchedule(subscription);
  if (!schedule || !tax?.automatic) return true;
  return laterPhases(schedule).every(
    (phase) => (phase.automatic_tax ?? schedule.default_settings.automatic_tax)?.enabled === true,
  );
}

/**
 * Switches the tax of a subscription on, before a charge: a change that waits for its payment cannot do that.
 * @throws Stripe's error if it does not know the place
 * @throws {StripeUnavailableError}
 */
export async function switchTaxOn(
  { stripe, catalogue }: TaxedClient,
  subscription: Stripe.Subscription,
): Promise<void> {
  if (isTaxed(catalogue, subscription)) return;
  await callStripe(stripe, (client) => client.subscriptions.update(subscription.id, taxOfSales(catalogue)));
}

/** The same back, after a charge that was given up: the next renewal stays as it was announced before. */
export async function switchTaxOff({ stripe }: { stripe: StripeClient }, subscriptionId: string): Promise<void> {
  const subscription = await callStripe(stripe, (client) => orNotFound(client.subscriptions.retrieve(subscriptionId)));
  const over: (string | undefined)[] = [undefined, 'canceled', 'incomplete_expired'];
  if (!subscription?.automatic_tax.enabled || over.includes(subscription.status)) return;
  await callStripe(stripe, (client) =>
    client.subscriptions.update(subscriptionId, { automatic_tax: { enabled: false } }),
  );
}

/** Stripe never changes the percentage of a rate. */
const knownRates = new WeakMap<StripeClient, Map<string, TaxRate>>();

/** undefined: it cannot be read now; the line is shown without it. */
export async function readTaxRate(
  { stripe, log }: { stripe: StripeClient; log: Logger },
  id: string,
): Promise<TaxRate | undefined> {
  const known = knownRates.get(stripe) ?? new Map<string, TaxRate>();
  knownRates.set(stripe, known);
  const found = known.get(id);
  if (found) return found;
  try {
    const rate = await callStripe(stripe, (client) => client.taxRates.retrieve(id));
    const { tax_type: type, display_name: name, effective_percentage: effective, percentage } = rate;
    const read = { name: type === 'vat' || name === 'VAT' ? null : name, percent: effective ?? percentage };
    known.set(id, read);
    return read;
  } catch (error) {
    log.warn({ err: error, act: 'quote', rate: id }, 'could not read a tax rate');
    return undefined;
  }
}

/** The rate of an invoice that has tax at one rate; undefined: at several, at none, or it cannot be read now. */
export async function readTaxPercent(
  deps: Parameters<typeof readTaxRate>[0],
  invoice: Stripe.Invoice,
): Promise<number | undefined> {
  const taxes = [...listTaxes(invoice, 'exclusive'), ...listTaxes(invoice, 'inclusive')];
  const [{ tax } = {}, another] = taxes.filter(({ cents }) => cents !== 0);
  return !another && tax?.rateId ? (await readTaxRate(deps, tax.rateId))?.percent : undefined;
}

/** The fields that Stripe Tax lacks before it computes anything; []: it is active. @throws {StripeUnavailableError} */
export async function listMissingTaxSettings(client: StripeClient): Promise<string[]> {
  const { status, status_details: details } = await callStripe(client, (stripe) => stripe.tax.settings.retrieve());
  if (status === 'active') return [];
  return details.pending?.missing_fields ?? [status];
}

/** undefined: there is none (any more). */
export async function readCustomer(stripe: Stripe, customerId: StripeCustomerId): Promise<Stripe.Customer | undefined> {
  const expand = ['invoice_settings.default_payment_method', 'discount.source.coupon', 'discount.promotion_code'];
  const customer = await orNotFound(stripe.customers.retrieve(customerId, { expand })).catch(async (error: unknown) => {
    // A deleted customer has nothing to expand.
    const bare = await orNotFound(stripe.customers.retrieve(customerId));
    if (bare && !bare.deleted) throw error;
    return undefined;
  });
  return !customer || customer.deleted ? undefined : customer;
}
