import type { Response } from 'express';
import express, { type Router } from 'express';
import type Stripe from 'stripe';
import { HttpError, methodNotAllowed } from '../../http/index.ts';
import { type StripeCustomerId, toStripeCustomerId, type UserId } from '../../shared/index.ts';
import { recordRefusedCard } from '../cards/card-entry.ts';
import type { BillingDeps } from '../deps.ts';
import { recordRefunds } from '../orders/refunds.ts';
import { StripeUnavailableError } from '../results.ts';
import { coalesceByKey } from '../stripe/shared-turns.ts';
import { callStripe, orNotFound } from '../stripe/stripe-client.ts';
import { toId } from '../stripe/stripe-objects.ts';
import { findMembershipByCustomer } from '../subscription/membership-store.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { completeEvent, type NotedEvent, recordEvent } from './webhook-store.ts';

export const webhookPath = '/webhooks/stripe';

/** Each of these events triggers a read of the user; its type does not matter, so they may arrive in any order. */
const ofMembers: ReadonlySet<string> = new Set([
  'customer.deleted',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.trial_will_end',
  'customer.subscription.pending_update_applied',
  'customer.subscription.pending_update_expired',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.payment_action_required',
  'payment_method.attached',
  'payment_method.detached',
  'payment_method.automatically_updated',
  'setup_intent.succeeded',
  'setup_intent.setup_failed',
]);
/** These events trigger a read of a payment. */
export const ofPayments = ['charge.refunded', 'charge.dispute.created'] as const;
const payments: ReadonlySet<string> = new Set(ofPayments);

/** Known types for labels and logs, so that callers cannot create new ones. */
const knownType = (type: string) => (ofMembers.has(type) || payments.has(type) ? type : 'other');

export type WebhookResult = 'done' | 'twice' | 'unknown-customer' | 'unknown-payment' | 'unknown-type';

/** Maximum body size. Stripe's events have some 10 KiB; an invoice with many lines has more. */
const bodyLimit = '1mb';
/** Stripe repeats deliveries by itself, for three days; this is for people who look. */
const retryAfterSeconds = 60;

interface About {
  id?: unknown;
  object?: unknown;
  customer?: unknown;
  payment_intent?: unknown;
}

const idIn = (item: unknown): string | null =>
  typeof item === 'string' || (typeof item === 'object' && item !== null && 'id' in item)
    ? toId(item as string | { id: string })
    : null;

/** The customer of an event: the only data that are used. */
function customerIdIn(value: unknown): StripeCustomerId | null {
  const id = idIn(value);
  return id === null ? null : toStripeCustomerId(id);
}

function customerIn({ data }: Stripe.Event): StripeCustomerId | null {
  const object = data.object as About;
  if (object.object === 'customer') return customerIdIn(object.id);
  // A removed card has no customer any more; its previous attributes do.
  const before = (data as { previous_attributes?: About }).previous_attributes;
  return customerIdIn(object.customer) ?? customerIdIn(before?.customer);
}

const noted = (event: Stripe.Event): NotedEvent => ({
  id: event.id,
  type: event.type,
  customerId: customerIn(event),
});

export interface StripeWebhooks {
  /** Processes an event, unless that was done. @throws {StripeUnavailableError} */
  take(event: Stripe.Event): Promise<WebhookResult>;
  /**
   * The same for an event of which only the id is stored: Stripe is asked for its content. @throws
   * {StripeUnavailableError}
   */
  retryEvents(eventId: string): Promise<void>;
  /** The route; before the body parsers and the guard against cross-site posts. */
  routes(router: Router, secret: string): void;
}

/**
 * Stripe's webhooks (https://docs.stripe.com/webhooks): each event only triggers a read; its content is not trusted.
 */
export function createWebhooks(deps: BillingDeps): StripeWebhooks {
  const { database, stripe, metrics, log, now } = deps;
  const sync = coalesceByKey((userId: UserId) => syncMember(deps, userId));

  async function act(event: Stripe.Event): Promise<WebhookResult> {
    if (payments.has(event.type)) {
      const intent = idIn((event.data.object as About).payment_intent);
      return intent === null ? 'unknown-payment' : recordRefunds(deps, intent);
    }
    if (!ofMembers.has(event.type)) return 'unknown-type';
    const customerId = customerIn(event);
    const membership = customerId === null ? undefined : await findMembershipByCustomer(database.db, customerId);
    if (!membership) return 'unknown-customer';
    const about = idIn(event.data.object);
    if (event.type === 'setup_intent.setup_failed' && about !== null)
      await recordRefusedCard(deps, membership.userId, about);
    await sync(membership.userId);
    return 'done';
  }

  async function take(event: Stripe.Event): Promise<WebhookResult> {
    const known = await recordEvent(database.db, noted(event), now());
    if (known === 'done') return 'twice';
    const outcome = await act(event);
    await completeEvent(database.db, event.id, now());
    return outcome;
  }

  function count(type: string, outcome: WebhookResult | 'refused' | 'away' | 'failed'): void {
    metrics.webhook(knownType(type), outcome);
  }

  /** @throws {HttpError} if the signature is missing, invalid or too old */
  async function verified(body: unknown, signature: string | undefined, secret: string): Promise<Stripe.Event> {
    const { webhooks } = await stripe();
    try {
      return webhooks.constructEvent(Buffer.isBuffer(body) ? body : '', signature ?? '', secret);
    } catch (error) {
      count('', 'refused');
      // Its message quotes the input.
      throw new HttpError('badRequest', { detail: `invalid Stripe webhook: ${(error as Error).name}` });
    }
  }

  async function answer(event: Stripe.Event, res: Response): Promise<void> {
    const { id, type } = event;
    try {
      const outcome = await take(event);
      count(type, outcome);
      const level = outcome === 'done' ? 'debug' : 'info';
      log[level]({ act: 'webhook', outcome, type: knownType(type), event: id }, 'an event of Stripe');
      res.status(200).json({ received: true });
    } catch (error) {
      const unavailable = error instanceof StripeUnavailableError;
      count(type, unavailable ? 'away' : 'failed');
      if (!unavailable) throw error;
      throw new HttpError('unavailable', { detail: error.message, retryAfterSeconds, cause: error });
    }
  }

  return {
    take,
    async retryEvents(eventId) {
      const event = await callStripe(stripe, (client) => orNotFound(client.events.retrieve(eventId)));
      // Stripe keeps events for 30 days. The object of an older one has been read often since.
      if (event) count(event.type, await take(event));
      else await completeEvent(database.db, eventId, now());
    },
    routes(router, secret) {
      const raw = express.raw({ type: () => true, limit: bodyLimit, inflate: false });
      router
        .route(webhookPath)
        .post(raw, async (req, res) => answer(await verified(req.body, req.get('stripe-signature'), secret), res))
        .all(methodNotAllowed('POST'));
    },
  };
}
