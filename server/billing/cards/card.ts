import type Stripe from 'stripe';
import type { StripeCustomerId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import type { SaveCardResult, SetupIntentResult } from '../results.ts';
import { callStripe, orNotFound, toStripeRefusal } from '../stripe/stripe-client.ts';
import { agreedByKey, toDecline, toId, toSavedCard } from '../stripe/stripe-objects.ts';
import { type ChangeableSubscription, findCustomer } from '../subscription/changeable-subscription.ts';
import { memberKey, trialHash } from '../subscription/ensure-customer.ts';
import { type Membership, type SavedCard, trialPlanKey } from '../subscription/membership.ts';
import { claimTrial } from '../subscription/membership-store.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { consumeCard, recordCardEntry, recordEnteredCard, recordFreshCard } from './card-entry.ts';
import { invoiceTypes } from './payment-methods.ts';

/**
 * Creates a setup intent, with which the browser confirms a card at Stripe: its number never reaches Foyer. Each counts
 * as an attempt, because testing of stolen cards starts here.
 * @throws {StripeUnavailableError}
 */
export async function beginCard(deps: BillingDeps, user: User, { ip }: { ip: string }): Promise<SetupIntentResult> {
  const decision = await consumeCard(deps, user, ip);
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const { customerId } = await findCustomer(deps, user);
  const intent = await callStripe(deps.stripe, (stripe) =>
    stripe.setupIntents.create({
      customer: customerId,
      usage: 'off_session',
      allowed_payment_method_types: [...deps.methods.types],
      metadata: { [memberKey]: user.id },
    }),
  );
  if (intent.client_secret === null) throw new Error('Stripe has given no secret for a card');
  await recordCardEntry(deps, intent.id);
  return { kind: 'begun', clientSecret: intent.client_secret, setupIntentId: intent.id };
}

/** One trial per card: if the card was used for another user's trial, this trial ends. @returns the subscription without it */
async function noteCardOfTrial(
  deps: BillingDeps,
  { userId, status, pricedPlanId, trialEnd, subscriptionId, pending }: Membership,
  fingerprint: string | null | undefined,
): Promise<Stripe.Subscription | undefined> {
  if (!fingerprint || subscriptionId === null) return undefined;
  const valueHash = trialHash(deps.trialKey, 'card', fingerprint);
  const own = await deps.database.transaction((trx) =>
    claimTrial(trx, { kind: 'card', valueHash, userId }, deps.now()),
  );
  if (own || status !== 'trialing' || pricedPlanId !== trialPlanKey) return undefined;
  // Stripe has paused it, and the event may still be on its way.
  if (trialEnd !== null && trialEnd <= deps.now()) return undefined;
  // The waiting purchase for this very card ends the trial itself; an update now would void its invoice.
  if (pending !== null) return undefined;
  // Nothing is charged: the initial plan is free.
  const subscription = await callStripe(deps.stripe, (stripe) =>
    stripe.subscriptions.update(subscriptionId, { trial_end: 'now', proration_behavior: 'none' }),
  );
  deps.log.info({ act: 'trial', outcome: 'card-used-before' }, 'trial ended: card already used for a trial');
  return subscription;
}

/** The user for whom a card is saved. */
export type CardOwner = Pick<ChangeableSubscription, 'membership' | 'customerId' | 'subscriptionId'> &
  Partial<Pick<ChangeableSubscription, 'subscription'>>;

/** A user has one card. While a payment waits its card stays: a bank may be asking about it. */
export async function forgetOtherCards(
  { stripe }: BillingDeps,
  { membership: { pending, unpaid }, customerId }: CardOwner,
  keptId: string,
): Promise<void> {
  if (pending !== null || unpaid !== null) return;
  await callStripe(stripe, async (client) => {
    const { data } = await client.customers.listPaymentMethods(customerId, { limit: 100 });
    for (const { id } of data) if (id !== keptId) await orNotFound(client.paymentMethods.detach(id));
  });
}

/** A card of the user's customer at Stripe. */
interface OwnedCard {
  method: Stripe.PaymentMethod;
  card: SavedCard;
}

/** undefined: another user's, or not one of the offered methods. */
function toOwnedCard(
  { methods }: Pick<BillingDeps, 'methods'>,
  method: Stripe.PaymentMethod | null | undefined,
  customerId: StripeCustomerId,
): OwnedCard | undefined {
  const isOffered = invoiceTypes(methods).some((type) => type === method?.type);
  const card = isOffered ? toSavedCard(method) : null;
  const owner = method?.customer;
  return method && card && owner && toId(owner) === customerId ? { method, card } : undefined;
}

/** After a refused change: a subscription that has ended needs no card, and the customer's is set. @returns the member now */
async function readIfEnded(deps: BillingDeps, owner: CardOwner, error: unknown): Promise<Membership> {
  const current = toStripeRefusal(error) ? await syncMember(deps, owner.membership.userId) : undefined;
  if (!current || current.subscriptionId === owner.subscriptionId) throw error;
  return current;
}

/** Makes a card the one that is charged, also for renewals. @returns the subscription, if its trial has ended by it */
async function setDefaultCard(
  deps: BillingDeps,
  owner: CardOwner,
  { method }: OwnedCard,
): Promise<Stripe.Subscription | undefined> {
  const { membership, customerId, subscriptionId, subscription } = owner;
  const current = await callStripe(deps.stripe, async (stripe) => {
    await stripe.customers.update(customerId, { invoice_settings: { default_payment_method: method.id } });
    const types = subscription?.payment_settings?.payment_method_types;
    const pays = types?.some((type) => type === method.type) === true;
    // A card of the subscription would be preferred, and would stay in a scheduled change.
    if (pays && subscription?.default_payment_method === null) return membership;
    await stripe.subscriptions.update(subscriptionId, {
      default_payment_method: '',
      ...(!pays && types && { payment_settings: { payment_method_types: invoiceTypes(deps.methods) } }),
    });
    return membership;
  }).catch((error: unknown) => readIfEnded(deps, owner, error));
  return noteCardOfTrial(deps, current, (method.card ?? method.sepa_debit)?.fingerprint);
}

/** Makes a card of the user's customer the one that is charged, also for renewals. @throws {StripeUnavailableError} */
export async function makeDefault(deps: BillingDeps, user: User, paymentMethodId: string): Promise<SaveCardResult> {
  const owner = await findCustomer(deps, user);
  const method = await callStripe(deps.stripe, (stripe) => orNotFound(stripe.paymentMethods.retrieve(paymentMethodId)));
  const owned = toOwnedCard(deps, method, owner.customerId);
  if (!owned) return { kind: 'not-confirmed' };
  await setDefaultCard(deps, owner, owned);
  await forgetOtherCards(deps, owner, owned.method.id);
  await syncMember(deps, user.id);
  return { kind: 'saved', card: owned.card };
}

/** The card that the browser has confirmed: the browser only sends the id. @throws {StripeUnavailableError} */
export async function readEnteredCard(
  { stripe }: Pick<BillingDeps, 'stripe'>,
  setupIntentId: string,
): Promise<Stripe.SetupIntent | undefined> {
  if (!/^seti_\w{1,200}$/.test(setupIntentId)) return undefined;
  return callStripe(stripe, (client) =>
    orNotFound(client.setupIntents.retrieve(setupIntentId, { expand: ['payment_method', 'latest_attempt'] })),
  );
}

export interface SavedEntry {
  kind: 'saved';
  card: SavedCard;
  /** The subscription, if the card has ended its trial. */
  afterTrial: Stripe.Subscription | undefined;
}

type RefusedEntry = Exclude<SaveCardResult, { kind: 'saved' }>;

/** Only what Stripe says of the intent counts, and only for its own customer. */
function judgeEntry(
  intent: Stripe.SetupIntent | undefined,
  customerId: StripeCustomerId,
): { kind: 'confirmed'; intent: Stripe.SetupIntent } | RefusedEntry {
  // Another user's looks like a missing one.
  if (!intent?.customer || toId(intent.customer) !== customerId) return { kind: 'not-confirmed' };
  const { status, last_setup_error: error } = intent;
  if (error?.message && status === 'requires_payment_method') return { kind: 'declined', ...toDecline(error) };
  return status === 'succeeded' ? { kind: 'confirmed', intent } : { kind: 'not-confirmed' };
}

/**
 * The method with which a user comes back from their bank's page: it is saved when they go on. Nothing is written.
 * @throws {StripeUnavailableError}
 */
export async function findReturned(deps: BillingDeps, user: User, setupIntentId: string): Promise<SaveCardResult> {
  const { customerId } = await findCustomer(deps, user);
  const judged = judgeEntry(await readEnteredCard(deps, setupIntentId), customerId);
  if (judged.kind !== 'confirmed') return judged;
  const card = toSetMethodView(judged.intent);
  return card ? { kind: 'saved', card } : { kind: 'not-confirmed' };
}

/**
 * Makes an entered card the one that is charged. Former cards stay (`forgetOtherCards`).
 * @throws {StripeUnavailableError}
 */
export async function saveEnteredCard(
  deps: BillingDeps,
  owner: CardOwner,
  intent: Stripe.SetupIntent | undefined,
): Promise<SavedEntry | RefusedEntry> {
  const judged = judgeEntry(intent, owner.customerId);
  if (judged.kind !== 'confirmed') return judged;
  const owned = toOwnedCard(deps, await readSetMethod(deps, judged.intent), owner.customerId);
  if (!owned) return { kind: 'not-confirmed' };
  const afterTrial = await setDefaultCard(deps, owner, owned);
  const entered = { setupIntentId: judged.intent.id, paymentMethodId: owned.method.id };
  await recordEnteredCard(deps, { id: owner.membership.userId }, entered);
  return { kind: 'saved', card: owned.card, afterTrial };
}

/** Makes the card that the browser has confirmed the one that is charged. @throws {StripeUnavailableError} */
export async function saveCard(deps: BillingDeps, user: User, setupIntentId: string): Promise<SaveCardResult> {
  const owner = await findCustomer(deps, user);
  const saved = await saveEnteredCard(deps, owner, await readEnteredCard(deps, setupIntentId));
  if (saved.kind !== 'saved') return saved;
  await forgetOtherCards(deps, owner, saved.card.paymentMethodId);
  await syncMember(deps, user.id);
  return { kind: 'saved', card: saved.card };
}

/** A card by one of Stripe's tokens, from callers of the JSON API. @throws {StripeUnavailableError} */
export async function saveCardToken(
  deps: BillingDeps,
  user: User,
  { token, ip }: { token: string; ip: string },
): Promise<SaveCardResult | { kind: 'not-offered' } | { kind: 'too-many'; retryAfterMs: number }> {
  if (!deps.methods.types.includes('card')) return { kind: 'not-offered' };
  const decision = await consumeCard(deps, user, ip);
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const { customerId } = await findCustomer(deps, user);
  try {
    const method = await callStripe(deps.stripe, async (stripe) => {
      const created = await stripe.paymentMethods.create({ type: 'card', card: { token } });
      return stripe.paymentMethods.attach(created.id, { customer: customerId });
    });
    const saved = await makeDefault(deps, user, method.id);
    if (saved.kind === 'saved') await recordFreshCard(deps, user, method.id);
    return saved;
  } catch (error) {
    const refusal = toStripeRefusal(error);
    if (refusal?.code === 'resource_missing') return { kind: 'not-confirmed' };
    if (refusal?.type === 'StripeCardError' || refusal?.code === 'token_already_used') {
      const { code, declineCode, message } = refusal;
      return { kind: 'declined', ...toDecline({ code, decline_code: declineCode, message }) };
    }
    throw error;
  }
}

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
async function readSetMethod(
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
function toSetMethodView(intent: Stripe.SetupIntent): SavedCard | null {
  const agreed = findAgreedDebit(intent);
  if (!agreed) return toSavedCard(intent.payment_method);
  const { agreedBy: brand, debitId: paymentMethodId, lastFour } = agreed;
  return { paymentMethodId, brand, lastFour, expMonth: null, expYear: null };
}
