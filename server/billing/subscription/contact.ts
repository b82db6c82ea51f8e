import type Stripe from 'stripe';
import { type StripeCustomerId, sha256, type UserId } from '../../shared/index.ts';
import { findUser, type User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import {
  type CustomerData,
  customerAddress,
  customerDetails,
  customerName,
  hasSameAddress,
} from '../details/customer-data.ts';
import { findDetails, locationRefusal } from '../details/details-store.ts';
import { bringTaxId, taxIdRefusal } from '../details/tax-id.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';
import { withUserLock } from '../user-lock.ts';
import { contactsDue, recordContactChange, setContact } from './contact-store.ts';
import type { ContactDue } from './membership.ts';
import { findMembership } from './membership-store.ts';

const batch = 200;

const toFacts = (data: CustomerData) => [
  ...[data.user.email, customerName(data), data.user.locale],
  ...(data.details ? [data.details.updatedAt, customerAddress(data)] : []),
];

const hasSameFacts = (one: CustomerData, other: CustomerData): boolean =>
  JSON.stringify(toFacts(one)) === JSON.stringify(toFacts(other));

/** A digest of the refused data, so that changed data are tried again. Only the user's rows have the data themselves. */
const toDigest = (data: CustomerData): string => sha256(JSON.stringify(toFacts(data)));

/** Leaves out what the customer cannot have, by the code of the refusal. */
const without: Record<string, (params: Stripe.CustomerUpdateParams) => Stripe.CustomerUpdateParams> = {
  email_invalid: ({ email: _, ...rest }) => rest,
  [locationRefusal]: ({ address: _, tax: __, ...rest }) => rest,
};

/** Without what Stripe refuses; everything else continues. @returns the code of the first refusal */
async function updateCustomer(
  { stripe, catalogue, log }: BillingDeps,
  customerId: StripeCustomerId,
  data: CustomerData,
): Promise<string | undefined> {
  const { user } = data;
  let params: Stripe.CustomerUpdateParams = {
    email: user.email,
    name: customerName(data),
    ...(user.locale !== null && { preferred_locales: [user.locale] }),
    ...customerDetails(data),
    ...(catalogue.tax?.automatic && data.details?.country && { tax: { validate_location: 'immediately' } }),
  };
  let first: string | undefined;
  for (;;) {
    const sent = params;
    try {
      await callStripe(stripe, (client) => client.customers.update(customerId, sent));
      return first;
    } catch (error) {
      const refusal = toStripeRefusal(error);
      if (refusal?.type !== 'StripeInvalidRequestError') throw error;
      // The message may quote the address.
      const refused = refusal.code ?? 'refused';
      const what = refused in without && refused !== 'email_invalid' ? 'billing' : 'email';
      log.warn({ act: 'customer', outcome: refused, member: user.id }, `${what} address refused by Stripe`);
      first ??= refused;
      const rest = without[refused]?.(params);
      if (!rest || Object.keys(rest).length === Object.keys(params).length) return first;
      params = rest;
    }
  }
}

/**
 * Writes the user's name, address, language and billing details to their customer. Stripe refuses some deliverable
 * addresses: the customer then has none, and everything else continues.
 * @returns the codes of what Stripe refuses
 * @throws {StripeUnavailableError}
 */
export async function updateContact(deps: BillingDeps, user: User, customerId: StripeCustomerId): Promise<string[]> {
  const { database, now } = deps;
  const data: CustomerData = { user, details: await findDetails(database.db, user.id) };
  const code = await updateCustomer(deps, customerId, data);
  const taxId = data.details && (await bringTaxId(deps, customerId, data.details));
  const contact: ContactDue | null = code === undefined ? null : { state: 'refused', code, digest: toDigest(data) };
  await database.transaction(async (trx) => {
    await setContact(trx, user.id, { contact, nowMs: now() });
    // After the row of the membership is locked: a change since the call is visible here, or is recorded after this.
    const [current, details] = [await findUser(trx, user.id), await findDetails(trx, user.id)];
    if (current && !hasSameFacts({ user: current, details }, data)) await recordContactChange(trx, user.id, now());
  });
  return [...(code === undefined ? [] : [code]), ...(taxId?.refused ? [taxIdRefusal] : [])];
}

/** The fields of the customer that differ from the user's; [] while an update is due or refused. */
export function contactDifferences(
  data: CustomerData,
  customer: Pick<Stripe.Customer, 'email' | 'name' | 'preferred_locales' | 'address'>,
): string[] {
  const { email, locale } = data.user;
  const language = customer.preferred_locales?.[0];
  return [
    ...(customer.email === email ? [] : ['email']),
    ...((customer.name ?? '') === customerName(data) ? [] : ['name']),
    ...(locale === null || language === locale ? [] : ['language']),
    ...(hasSameAddress(data, customer.address) ? [] : ['address']),
  ];
}

/**
 * Tries again after an outage of Stripe, and for refused data that have changed since.
 * @param each runs the work of one user, so that a failure does not block others
 */
export async function updateContactsDue(
  deps: BillingDeps,
  each: (userIds: UserId[], act: (userId: UserId) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { database, now } = deps;
  const due = await contactsDue(database.db, batch);
  await each(
    due.map(({ userId }) => userId),
    (userId) =>
      withUserLock(database, userId, async () => {
        const [membership, user, details] = await Promise.all([
          findMembership(database.db, userId),
          findUser(database.db, userId),
          findDetails(database.db, userId),
        ]);
        if (!membership?.customerId || !membership.contact) return;
        const { contact, customerId } = membership;
        const data = user && { user, details };
        const isUnchanged = contact.state === 'refused' && (!data || contact.digest === toDigest(data));
        if (user && !isUnchanged) await updateContact(deps, user, customerId);
        // The next run starts with others.
        else if (due.length === batch) await setContact(database.db, userId, { contact, nowMs: now() });
      }),
  );
}
