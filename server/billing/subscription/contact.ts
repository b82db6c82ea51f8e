import type Stripe from 'stripe';
import { type StripeCustomerId, sha256, type UserId } from '../../shared/index.ts';
import { findUser, fullName, type User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';
import { contactsDue, recordContactChange, setContact } from './contact-store.ts';
import type { ContactDue } from './membership.ts';
import { findMembership } from './membership-store.ts';

const batch = 200;

type ContactFields = Pick<User, 'email' | 'givenName' | 'familyName' | 'locale'>;

const hasSameContact = (one: ContactFields, other: ContactFields): boolean =>
  one.email === other.email && fullName(one) === fullName(other) && one.locale === other.locale;

/** A digest of the refused data, so that changed data are tried again. Only the user's row has the address itself. */
const toDigest = (user: ContactFields): string => sha256(JSON.stringify([user.email, fullName(user), user.locale]));

/**
 * Writes the user's name, address and language to their customer. Stripe refuses some deliverable addresses: the
 * customer then has none, and everything else continues.
 * @throws {StripeUnavailableError}
 */
export async function updateContact(deps: BillingDeps, user: User, customerId: StripeCustomerId): Promise<void> {
  const { database, stripe, log, now } = deps;
  const update = (email: string | undefined) =>
    callStripe(stripe, (client) =>
      client.customers.update(customerId, {
        ...(email !== undefined && { email }),
        name: fullName(user),
        ...(user.locale !== null && { preferred_locales: [user.locale] }),
      }),
    );
  let contact: ContactDue | null = null;
  try {
    await update(user.email);
  } catch (error) {
    const refusal = toStripeRefusal(error);
    if (refusal?.type !== 'StripeInvalidRequestError') throw error;
    // The message may quote the address.
    const code = refusal.code ?? 'refused';
    log.warn({ act: 'customer', outcome: code, member: user.id }, 'email address refused by Stripe');
    contact = { state: 'refused', code, digest: toDigest(user) };
    if (code === 'email_invalid') await update(undefined);
  }
  await database.transaction(async (trx) => {
    await setContact(trx, user.id, { contact, nowMs: now() });
    // After the row of the membership is locked: a change since the call is visible here, or is recorded after this.
    const current = await findUser(trx, user.id);
    if (current && !hasSameContact(current, user)) await recordContactChange(trx, user.id, now());
  });
}

/** The fields of the customer that differ from the user's; [] while an update is due or refused. */
export function contactDifferences(
  user: ContactFields,
  customer: Pick<Stripe.Customer, 'email' | 'name' | 'preferred_locales'>,
): string[] {
  const language = customer.preferred_locales?.[0];
  return [
    ...(customer.email === user.email ? [] : ['email']),
    ...((customer.name ?? '') === fullName(user) ? [] : ['name']),
    ...(user.locale === null || language === user.locale ? [] : ['language']),
  ];
}

/**
 * Tries again after an outage of Stripe, and for refused addresses that have changed since.
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
    async (userId) => {
      const [membership, user] = await Promise.all([
        findMembership(database.db, userId),
        findUser(database.db, userId),
      ]);
      if (!membership?.customerId || !membership.contact) return;
      const { contact, customerId } = membership;
      const isUnchanged = contact.state === 'refused' && (!user || contact.digest === toDigest(user));
      if (user && !isUnchanged) await updateContact(deps, user, customerId);
      // The next run starts with others.
      else if (due.length === batch) await setContact(database.db, userId, { contact, nowMs: now() });
    },
  );
}
