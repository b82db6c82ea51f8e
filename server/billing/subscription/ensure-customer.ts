import { createHmac } from 'node:crypto';
import type { Transaction } from 'kysely';
import type Stripe from 'stripe';
import { type StripeCustomerId, toStripeCustomerId, toStripeSubscriptionId, type UserId } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import { insertUserRecord, type User, updateUserRecord } from '../../users/index.ts';
import { invoiceTypes } from '../cards/payment-methods.ts';
import type { BillingDeps } from '../deps.ts';
import { StripeUnavailableError } from '../results.ts';
import { billingMode } from '../stripe/billing-mode.ts';
import { callStripe, hasFailed } from '../stripe/stripe-client.ts';
import { toId } from '../stripe/stripe-objects.ts';
import { updateContact } from './contact.ts';
import {
  recordCustomerRequest,
  resetCustomerRequest,
  setCustomer,
  setSubscription,
  setTrialDays,
} from './customer-store.ts';
import type { Membership } from './membership.ts';
import { claimTrial, findMembership, insertMembership } from './membership-store.ts';
import { type MemberReading, recordAnswers, syncMember } from './sync-from-stripe.ts';

/** The metadata key of Stripe's customers and subscriptions with the user's id. */
export const memberKey = 'foyer_user';

/** Stripe keeps idempotency keys for at least 24 hours. */
const keysHoldMs = 20 * 60 * 60_000;
/** Tolerance for Stripe's clock. */
const clockMs = 10 * 60_000;

/** A trial of every user, or of a paid plan (`plan-…`): one does not use the other up. */
type ClaimKind = 'email' | 'card' | 'plan-email' | 'plan-card';

/** The stored form of an address or card that has had its trial: it cannot be reversed without the key. */
export const trialHash = (key: Buffer, kind: ClaimKind, value: string): string =>
  createHmac('sha256', key).update(`${kind}:${value}`).digest('base64url');

/** A plus suffix does not make another mailbox: all such addresses count as one. */
const withoutTag = (email: string): string => email.replace(/^([^+@]+)\+[^@]*@/, '$1@');

/** Google delivers to one mailbox under both of its domains, and ignores dots. */
const googleAddress = /^(?<name>[^@]+)@(?:gmail|googlemail)\.com$/;

/** All spellings of an address whose claim counts: that of its mailbox, and the one of claims by earlier releases. */
function mailboxSpellings(email: string): string[] {
  const plain = withoutTag(email);
  const { name } = googleAddress.exec(plain)?.groups ?? {};
  return name === undefined ? [plain] : [...new Set([`${name.replaceAll('.', '')}@gmail.com`, plain])];
}

/** The stored forms of the mailbox of an address. */
export const mailboxHashes = (key: Buffer, kind: 'email' | 'plan-email', email: string): string[] =>
  mailboxSpellings(email).map((spelling) => trialHash(key, kind, spelling));

/** Finds a customer from an earlier attempt whose answer was lost too long ago for its idempotency key. */
async function findLostCustomer({ stripe }: BillingDeps, userId: UserId): Promise<string | undefined> {
  const { data } = await callStripe(stripe, (client) =>
    client.customers.search({ query: `metadata['${memberKey}']:'${userId}'`, limit: 1 }),
  );
  return data[0]?.id;
}

/** The same among the newest, by a list: a search finds a new one only after a while. */
async function findRecentCustomer(
  { stripe }: BillingDeps,
  userId: UserId,
  sinceMs: number,
): Promise<string | undefined> {
  const gte = Math.floor((sinceMs - clockMs) / 1000);
  return callStripe(stripe, async (client) => {
    for await (const { id, metadata } of client.customers.list({ created: { gte }, limit: 100 })) {
      if (metadata[memberKey] === userId) return id;
    }
    return undefined;
  });
}

/** The idempotency key of the customer, derived from the generation and the time of the request. */
const customerIdempotencyKey = (
  what: 'customer' | 'subscription',
  { userId, generation, customerAskedAt }: Membership,
): string => `foyer:${what}:${userId}:${generation}:${customerAskedAt ?? 0}`;

/** @returns the new customer, or the id of one that an earlier request has created */
async function createCustomer(deps: BillingDeps, membership: Membership): Promise<Stripe.Customer | string> {
  const { database, stripe, now } = deps;
  const { userId, customerAskedAt } = membership;
  try {
    return await callStripe(stripe, (client) =>
      // The same parameters at each repetition: data that may change (name, address) follow in a separate call.
      client.customers.create(
        { metadata: { [memberKey]: userId } },
        { idempotencyKey: customerIdempotencyKey('customer', membership) },
      ),
    );
  } catch (error) {
    if (!hasFailed(error)) throw error;
    // A failed request may have been executed nevertheless.
    const created = await findRecentCustomer(deps, userId, customerAskedAt ?? now());
    if (created !== undefined) return created;
    await resetCustomerRequest(database.db, membership, now());
    throw error;
  }
}

/** @returns the customer, if this very call has created it: then it has no subscription yet */
async function makeCustomer(
  deps: BillingDeps,
  user: User,
  membership: Membership,
): Promise<Stripe.Customer | undefined> {
  const { database, now } = deps;
  const { userId } = membership;
  const customerAskedAt = membership.customerAskedAt ?? now();
  await recordCustomerRequest(database.db, userId, customerAskedAt);
  const late = now() - customerAskedAt > keysHoldMs;
  const known = late ? await findLostCustomer(deps, userId) : undefined;
  const customer = known ?? (await createCustomer(deps, { ...membership, customerAskedAt }));
  const customerId = toStripeCustomerId(toId(customer));
  // First: whatever Stripe answers about the user's data, no second customer is created.
  await attachCustomer(deps, userId, customerId);
  await introduce(deps, user, customerId);
  return membership.customerAskedAt === null && typeof customer !== 'string' ? customer : undefined;
}

/**
 * Writes the user's data to a new customer. Nothing waits for it: it is recorded with the customer, and the minute job
 * tries again.
 */
async function introduce(deps: BillingDeps, user: User, customerId: StripeCustomerId): Promise<void> {
  await updateContact(deps, user, customerId).catch((error: unknown) => {
    if (!(error instanceof StripeUnavailableError)) throw error;
    deps.log.warn({ err: error, act: 'customer', member: user.id }, 'could not update the customer at Stripe');
  });
}

/** Assigns the customer to the user, unless they have one. */
export async function attachCustomer(
  { database, now }: Pick<BillingDeps, 'database' | 'now'>,
  userId: UserId,
  customerId: StripeCustomerId,
): Promise<void> {
  await database.transaction(async (trx) => {
    await setCustomer(trx, { userId, customerId }, now());
    const stored = (await findMembership(trx, userId))?.customerId ?? customerId;
    await insertUserRecord(trx, userId, now());
    await updateUserRecord(trx, userId, { change: { stripeCustomerId: stored }, nowMs: now() });
  });
}

/**
 * The length of the trial: each address has one, also after it changed users, and only the first subscription starts with
 * it.
 */
export async function claimTrialDays(
  trx: Transaction<Schema>,
  { trialKey, now }: Pick<BillingDeps, 'trialKey' | 'now'>,
  { user, generation, days }: Pick<Membership, 'generation'> & { user: Pick<User, 'id' | 'email'>; days: number },
): Promise<number> {
  for (const valueHash of mailboxHashes(trialKey, 'email', user.email)) {
    if (!(await claimTrial(trx, { kind: 'email', valueHash, userId: user.id }, now()))) return 0;
  }
  if (generation > 0) return 0;
  // The first value stays: the request to Stripe must be repeated unchanged.
  await setTrialDays(trx, { userId: user.id, days }, now());
  return (await findMembership(trx, user.id))?.trialDays ?? 0;
}

async function makeSubscription(
  deps: BillingDeps,
  user: User,
  { membership, days }: { membership: Membership; days: number },
): Promise<Stripe.Subscription> {
  const { database, stripe, prices, methods, now } = deps;
  const { userId, customerId } = membership;
  if (customerId === null) throw new Error('a subscription needs a customer');
  const { generation } = membership;
  const trialDays = await deps.database.transaction((trx) => claimTrialDays(trx, deps, { user, generation, days }));
  const price = await prices.priceIdFor('trial');
  const subscription = await callStripe(stripe, (client) =>
    client.subscriptions.create(
      {
        customer: customerId,
        items: [{ price, quantity: 1 }],
        billing_mode: billingMode,
        ...(trialDays > 0 && {
          trial_period_days: trialDays,
          trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
        }),
        payment_settings: { payment_method_types: invoiceTypes(methods) },
        metadata: { [memberKey]: userId },
        expand: ['latest_invoice', 'schedule'],
      },
      { idempotencyKey: customerIdempotencyKey('subscription', membership) },
    ),
  ).catch(async (error: unknown) => {
    if (!hasFailed(error)) throw error;
    // Every subscription of a known customer is known: one that was created nevertheless is found here.
    const found = (await syncMember(deps, userId))?.subscriptionId ?? null;
    if (found === null) await resetCustomerRequest(database.db, membership, now());
    throw error;
  });
  await setSubscription(database.db, { ...membership, subscriptionId: toStripeSubscriptionId(subscription.id) }, now());
  return subscription;
}

/** A page shows its price at once; what is older is read again. */
const freshMs = 10_000;

/** By the user object of the request: what it has just created. */
const created = new WeakMap<User, MemberReading & { atMs: number }>();

/** The subscription that this very request has created: it need not be read again, unless an act has followed. */
export function findCreatedSubscription(
  { now }: Pick<BillingDeps, 'now'>,
  user: User,
  { subscriptionId, version }: Membership,
): Stripe.Subscription | undefined {
  const { membership, facts, atMs = 0 } = created.get(user) ?? {};
  // Every act ends with a read, which changes the version.
  if (membership?.version !== version || now() - atMs >= freshMs) return undefined;
  return facts?.subscriptions.find(({ id }) => id === subscriptionId);
}

/**
 * The first customer and subscription, which this act has created: Stripe's answers are all that there is to read.
 * @returns undefined if another act was faster
 */
async function completeFirst(
  deps: BillingDeps,
  user: User,
  { customer, days }: { customer: Stripe.Customer; days: number },
): Promise<Membership | undefined> {
  const membership = await findMembership(deps.database.db, user.id);
  if (membership?.customerId !== customer.id || membership.subscriptionId !== null) return undefined;
  const subscription = await makeSubscription(deps, user, { membership, days });
  const { latest_invoice: invoice } = subscription;
  const invoices = invoice && typeof invoice !== 'string' ? [invoice] : [];
  const facts = { customer, subscriptions: [subscription], invoices, unpaid: undefined };
  const reading = await recordAnswers(deps, user.id, facts);
  if (reading) created.set(user, { ...reading, atMs: deps.now() });
  return reading?.membership;
}

/**
 * Ensures that the user has a customer and a subscription at Stripe, with the initial plan, which is never charged. It
 * can be called any number of times, in parallel, and again after a crash at any point.
 * @param trialDays of the trial, if the user may have one
 * @throws {StripeUnavailableError}
 */
export async function ensureCustomer(deps: BillingDeps, user: User, trialDays: number): Promise<Membership> {
  const { database, now } = deps;
  let membership = await insertMembership(database.db, user.id, now());
  if (membership.customerId !== null && membership.subscriptionId !== null) return membership;
  if (membership.customerId === null) {
    const customer = await makeCustomer(deps, user, membership);
    const first = customer && (await completeFirst(deps, user, { customer, days: trialDays }));
    if (first?.subscriptionId) return first;
  } else if (membership.contact?.state === 'due') {
    // A crash between the customer and their data: Stripe writes to the customer about the next purchase.
    await introduce(deps, user, membership.customerId);
  }
  // A lost or other running one is found before a new one is created.
  membership = (await syncMember(deps, user.id)) ?? membership;
  if (membership.customerId === null) {
    // The customer was deleted at Stripe at this moment; the next attempt creates another one.
    await makeCustomer(deps, user, membership);
    membership = (await syncMember(deps, user.id)) ?? membership;
  }
  if (membership.subscriptionId === null) await makeSubscription(deps, user, { membership, days: trialDays });
  return (await syncMember(deps, user.id)) ?? membership;
}
