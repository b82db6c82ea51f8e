import type Stripe from 'stripe';
import type { StripeCustomerId, UserId } from '../../shared/index.ts';
import { recordRefusedCard } from '../cards/card-entry.ts';
import type { BillingDeps } from '../deps.ts';
import { refreshTaxId } from '../details/tax-id.ts';
import { recordCreditNotes } from '../orders/credit-notes.ts';
import { recordRefunds } from '../orders/refunds.ts';
import { StripeUnavailableError } from '../results.ts';
import { coalesceByKey } from '../stripe/shared-turns.ts';
import { findMembershipByCustomer } from '../subscription/membership-store.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { untilIdle } from '../user-lock.ts';
import { customerIn, findSubject, findSubjectKind, idIn, knownType, type Subject } from './event-subjects.ts';
import { completeEvent, type NotedEvent, recordEvent } from './webhook-store.ts';

type EventResult = 'done' | 'unknown-customer' | 'unknown-payment' | 'unknown-type';
export type WebhookResult = EventResult | 'twice';

const noted = (event: Stripe.Event): NotedEvent => ({
  id: event.id,
  type: event.type,
  customerId: customerIn(event),
});

/** Events that arrive during an action of their user share one read after it. */
function createSharedReads(deps: BillingDeps): (userId: UserId) => Promise<unknown> {
  const read = coalesceByKey((userId: UserId) => syncMember(deps, userId));
  const waiting = new Map<UserId, Promise<unknown>>();
  return (userId) => {
    const turn =
      waiting.get(userId) ??
      untilIdle(userId).then(() => {
        waiting.delete(userId);
        return read(userId);
      });
    waiting.set(userId, turn);
    return turn;
  };
}

/** The registry has answered about a VAT id; amounts follow from it. */
async function readTaxId(
  deps: BillingDeps,
  customerId: StripeCustomerId,
  sync: (userId: UserId) => Promise<unknown>,
): Promise<EventResult> {
  const membership = await findMembershipByCustomer(deps.database.db, customerId);
  if (!membership) return 'unknown-customer';
  if (await refreshTaxId(deps, membership.userId, customerId)) await sync(membership.userId);
  return 'done';
}

/** Reads at Stripe the objects that events are about. */
export function createEventReader(deps: BillingDeps) {
  const { metrics, log, now } = deps;
  const { db } = deps.database;
  const sync = createSharedReads(deps);

  async function readMember(customerId: StripeCustomerId): Promise<EventResult> {
    const membership = await findMembershipByCustomer(db, customerId);
    if (!membership) return 'unknown-customer';
    await sync(membership.userId);
    return 'done';
  }

  function readSubject(subject: Subject): Promise<EventResult> {
    switch (subject.kind) {
      case 'payment':
        return recordRefunds(deps, subject.intentId);
      case 'credit-notes':
        return recordCreditNotes(deps, subject.invoiceId);
      case 'tax-id':
        return readTaxId(deps, subject.customerId, sync);
      case 'member':
        return readMember(subject.customerId);
    }
  }

  /** A refused card is counted for each event. */
  async function countRefusedCard(event: Stripe.Event): Promise<void> {
    const [about, customerId] = [idIn(event.data.object), customerIn(event)];
    if (event.type !== 'setup_intent.setup_failed' || about === null || customerId === null) return;
    const membership = await findMembershipByCustomer(db, customerId);
    if (membership) await recordRefusedCard(deps, membership.userId, about);
  }

  async function act(event: Stripe.Event, read = readSubject): Promise<EventResult> {
    const kind = findSubjectKind(event.type);
    if (!kind) return 'unknown-type';
    const subject = findSubject(event);
    if (!subject) return kind === 'member' || kind === 'tax-id' ? 'unknown-customer' : 'unknown-payment';
    await countRefusedCard(event);
    return read(subject);
  }

  async function take(event: Stripe.Event): Promise<WebhookResult> {
    const known = await recordEvent(db, noted(event), now());
    if (known === 'done') return 'twice';
    const outcome = await act(event);
    await completeEvent(db, event.id, now());
    return outcome;
  }

  async function takeMissed(events: readonly Stripe.Event[]): Promise<void> {
    const results = new Map<string, Promise<EventResult>>();
    const readOnce = (subject: Subject) => {
      const key = JSON.stringify(subject);
      const result = results.get(key) ?? readSubject(subject);
      results.set(key, result);
      return result;
    };
    for (const event of events) {
      const known = await recordEvent(db, noted(event), now());
      if (known === 'done') continue;
      if (known === 'new') metrics.webhook(knownType(event.type), 'missed');
      try {
        await act(event, readOnce);
        await completeEvent(db, event.id, now());
      } catch (error) {
        if (error instanceof StripeUnavailableError) throw error;
        // The minute job tries it again; the others must not wait for it.
        log.warn({ err: error, event: event.id }, 'could not do what an event of Stripe asks for');
      }
    }
  }

  return { take, takeMissed };
}
