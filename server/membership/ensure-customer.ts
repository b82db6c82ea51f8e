import { createHmac } from 'node:crypto';
import type { UserId } from '../shared/index.ts';
import { insertUserRecord, type User, updateUserRecord } from '../users/index.ts';
import { updateContact } from './contact.ts';
import type { BillingDeps } from './deps.ts';
import type { Membership } from './membership.ts';
import {
  claimTrial,
  findMembership,
  insertMembership,
  recordCustomerRequest,
  resetCustomerRequest,
  setCustomer,
  setSubscription,
  setTrialDays,
} from './membership-store.ts';
import { StripeUnavailableError } from './results.ts';
import { callStripe, toStripeRefusal } from './stripe-client.ts';
import { syncMember } from './sync-from-stripe.ts';

/** By which Stripe's customers and subscriptions say whose they are. */
export const memberKey = 'foyer_user';

/** Stripe keeps idempotency keys for at least 24 hours. */
const keysHoldMs = 20 * 60 * 60_000;
/** By which Stripe's clock may be behind. */
const clockMs = 10 * 60_000;

/** An address or card as it is kept once its trial is used: nobody reads it back without the key. */
export const trialHash = (key: Buffer, kind: 'email' | 'card', value: string): string =>
  createHmac('sha256', key).update(`${kind}:${value}`).digest('base64url');

/** What is behind a plus names no other mailbox: as many addresses as one likes are one. */
const mailbox = (email: string): string => email.replace(/^([^+@]+)\+[^@]*@/, '$1@');

/** A customer that an earlier try has made, whose answer was lost too long ago for its idempotency key. */
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

/**
 * Whether Stripe has said that it failed: it says so again to whoever asks with the same key, for a day
 * (https://docs.stripe.com/api/idempotent_requests). Where no answer came at all the key is what finds out what became of it.
 */
const hasFailed = (error: unknown): boolean =>
  error instanceof StripeUnavailableError && (toStripeRefusal(error.cause)?.statusCode ?? 0) >= 500;

/** What Stripe is asked to make once, under a key that is of this generation and of when it was asked. */
const customerIdempotencyKey = (
  what: 'customer' | 'subscription',
  { userId, generation, customerAskedAt }: Membership,
): string => `foyer:${what}:${userId}:${generation}:${customerAskedAt ?? 0}`;

async function createCustomer(deps: BillingDeps, membership: Membership): Promise<string> {
  const { database, stripe, now } = deps;
  const { userId, customerAskedAt } = membership;
  try {
    return await callStripe(stripe, async (client) => {
      // The same words whenever it is said again: what may change meanwhile (name, address) follows in a call of its own.
      const { id } = await client.customers.create(
        { metadata: { [memberKey]: userId } },
        { idempotencyKey: customerIdempotencyKey('customer', membership) },
      );
      return id;
    });
  } catch (error) {
    if (!hasFailed(error)) throw error;
    // What has failed may have been done all the same.
    const created = await findRecentCustomer(deps, userId, customerAskedAt ?? now());
    if (created !== undefined) return created;
    await resetCustomerRequest(database.db, membership, now());
    throw error;
  }
}

async function makeCustomer(deps: BillingDeps, user: User, membership: Membership): Promise<void> {
  const { database, now } = deps;
  const { userId } = membership;
  const customerAskedAt = membership.customerAskedAt ?? now();
  await recordCustomerRequest(database.db, userId, customerAskedAt);
  const late = now() - customerAskedAt > keysHoldMs;
  const known = late ? await findLostCustomer(deps, userId) : undefined;
  const customerId = known ?? (await createCustomer(deps, { ...membership, customerAskedAt }));
  // First: whatever Stripe says to the member's data, no other customer is made.
  await attachCustomer(deps, userId, customerId);
  await introduce(deps, user, customerId);
}

/** Writes the member's data to a new customer. Nothing else waits for it: it is noted with the customer, and the minute job tries again. */
async function introduce(deps: BillingDeps, user: User, customerId: string): Promise<void> {
  await updateContact(deps, user, customerId).catch((error: unknown) => {
    if (!(error instanceof StripeUnavailableError)) throw error;
    deps.log.warn({ err: error, act: 'customer', member: user.id }, 'could not write a member’s data to Stripe');
  });
}

/** The customer becomes the member's, unless they have one. */
export async function attachCustomer(
  { database, now }: Pick<BillingDeps, 'database' | 'now'>,
  userId: UserId,
  customerId: string,
): Promise<void> {
  await database.transaction(async (trx) => {
    await setCustomer(trx, userId, customerId, now());
    const stored = (await findMembership(trx, userId))?.customerId ?? customerId;
    await insertUserRecord(trx, userId, now());
    await updateUserRecord(trx, userId, { stripeCustomerId: stored }, now());
  });
}

/** How long the trial is: each address has one, whoever it belonged to before, and only the first subscription begins with it. */
async function trialDaysFor(deps: BillingDeps, user: User, { generation }: Membership, days: number): Promise<number> {
  const { database, trialKey, now } = deps;
  return database.transaction(async (trx) => {
    const valueHash = trialHash(trialKey, 'email', mailbox(user.email));
    const own = await claimTrial(trx, { kind: 'email', valueHash, userId: user.id }, now());
    if (!own || generation > 0) return 0;
    // The first word stands: Stripe must be asked the same again.
    await setTrialDays(trx, user.id, days, now());
    return (await findMembership(trx, user.id))?.trialDays ?? 0;
  });
}

/**
 * How long the trial will be is settled when the address has been confirmed, by the way on which it was: no page that is opened
 * first makes it longer. Stripe is not asked yet.
 */
export async function ensureTrialDays(deps: BillingDeps, user: User, days: number): Promise<void> {
  const membership = await insertMembership(deps.database.db, user.id, deps.now());
  if (membership.subscriptionId === null) await trialDaysFor(deps, user, membership, days);
}

async function makeSubscription(deps: BillingDeps, user: User, membership: Membership, days: number): Promise<void> {
  const { database, stripe, prices, now } = deps;
  const { userId, customerId } = membership;
  if (customerId === null) throw new Error('a subscription needs a customer');
  const trialDays = await trialDaysFor(deps, user, membership, days);
  const price = await prices.priceIdFor('trial');
  const subscription = await callStripe(stripe, (client) =>
    client.subscriptions.create(
      {
        customer: customerId,
        items: [{ price, quantity: 1 }],
        ...(trialDays > 0 && {
          trial_period_days: trialDays,
          trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
        }),
        payment_settings: { payment_method_types: ['card'], save_default_payment_method: 'on_subscription' },
        metadata: { [memberKey]: userId },
      },
      { idempotencyKey: customerIdempotencyKey('subscription', membership) },
    ),
  ).catch(async (error: unknown) => {
    if (!hasFailed(error)) throw error;
    // Of a customer that is known every subscription is: one that was made all the same is found here.
    const found = (await syncMember(deps, userId))?.subscriptionId ?? null;
    if (found === null) await resetCustomerRequest(database.db, membership, now());
    throw error;
  });
  await setSubscription(database.db, membership, subscription.id, now());
}

/**
 * The member has a customer and a subscription with Stripe, on the plan on which members begin, for which nothing is ever
 * charged. It may be said any number of times, at once, and again after a crash at any point.
 * @param trialDays of the trial, where the member may have one
 * @throws {StripeUnavailableError}
 */
export async function ensureCustomer(deps: BillingDeps, user: User, trialDays: number): Promise<Membership> {
  const { database, now } = deps;
  let membership = await insertMembership(database.db, user.id, now());
  if (membership.customerId !== null && membership.subscriptionId !== null) return membership;
  if (membership.customerId === null) await makeCustomer(deps, user, membership);
  // A crash came between the customer and their data: Stripe writes to the customer about what is bought next.
  else if (membership.contact?.state === 'due') await introduce(deps, user, membership.customerId);
  // One that was lost, or that went on elsewhere, is found before another is made.
  membership = (await syncMember(deps, user.id)) ?? membership;
  if (membership.customerId === null) {
    // The customer was deleted at Stripe this very moment; the next try makes another one.
    await makeCustomer(deps, user, membership);
    membership = (await syncMember(deps, user.id)) ?? membership;
  }
  if (membership.subscriptionId === null) await makeSubscription(deps, user, membership, trialDays);
  return (await syncMember(deps, user.id)) ?? membership;
}
