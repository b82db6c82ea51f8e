import type { Response } from 'express';
import express, { type Router } from 'express';
import type Stripe from 'stripe';
import { actAs } from '../../audit/index.ts';
import { HttpError, methodNotAllowed } from '../../http/index.ts';
import { propertyIn } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { StripeUnavailableError } from '../results.ts';
import { callStripe, orNotFound } from '../stripe/stripe-client.ts';
import { createEventReader, type WebhookResult } from './event-reader.ts';
import { knownType } from './event-subjects.ts';
import { completeEvent } from './webhook-store.ts';

export const webhookPath = '/webhooks/stripe';

/** Maximum body size. Stripe's events have some 10 KiB; an invoice with many lines has more. */
const bodyLimit = '1mb';
/** Stripe repeats deliveries by itself, for three days; this is for people who look. */
const retryAfterSeconds = 60;

export interface StripeWebhooks {
  /** Processes an event, unless that was done. @throws {StripeUnavailableError} */
  take(event: Stripe.Event): Promise<WebhookResult>;
  /**
   * The same for an event of which only the id is stored: Stripe is asked for its content. @throws
   * {StripeUnavailableError}
   */
  retryEvents(eventId: string): Promise<void>;
  /**
   * Processes events whose webhooks did not arrive, the oldest first; what several are about is read once.
   * @throws {StripeUnavailableError}
   */
  takeMissed(events: readonly Stripe.Event[]): Promise<void>;
  /** The route; before the body parsers and the guard against cross-site posts. */
  routes(router: Router, secret: string): void;
}

/**
 * Stripe's webhooks (https://docs.stripe.com/webhooks): each event only triggers a read; its content is not trusted.
 */
export function createWebhooks(deps: BillingDeps): StripeWebhooks {
  const { database, stripe, metrics, log, now } = deps;

  const { take, takeMissed } = createEventReader(deps);

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
      throw new HttpError('badRequest', { detail: `invalid Stripe webhook: ${propertyIn(error, 'name')}` });
    }
  }

  async function answer(event: Stripe.Event, res: Response): Promise<void> {
    const { id, type } = event;
    try {
      const outcome = await actAs({ kind: 'stripe' }, () => take(event));
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
    takeMissed,
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
