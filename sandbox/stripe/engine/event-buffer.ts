import { newId } from './new-id.ts';
import type { ObjectStore } from './object-store.ts';
import type { EngineOptions, StripeEvent } from './types.ts';

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The earlier values of changed properties, nested as Stripe's previous_attributes are; lists are included as a whole.
 */
function previousAttributes(before: Record<string, unknown>, after: Record<string, unknown>) {
  const previous: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [oldValue, newValue] = [before[key], after[key]];
    if (JSON.stringify(oldValue) === JSON.stringify(newValue)) continue;
    const nested = isPlain(oldValue) && isPlain(newValue);
    previous[key] = nested ? previousAttributes(oldValue, newValue) : (oldValue ?? null);
  }
  return previous;
}

const keepEventsForSeconds = 30 * 86_400;

/** Events wait here until the outermost transaction is complete: an undone change emits none. */
export function createEventBuffer(
  store: ObjectStore,
  { now, onEvent }: { now(): number; onEvent: EngineOptions['onEvent'] },
) {
  let waiting: StripeEvent[] = [];
  /** The objects as the last event of this transaction had them. */
  let announced = new Map<string, Record<string, unknown>>();

  const original = (id: string) => store.objects.original(id) as unknown as Record<string, unknown> | undefined;

  return {
    /** Emits an event. With `updated`, only for a real change, with the earlier values. */
    announce(type: string, about: { id: string; object: string }, kind: 'event' | 'updated' = 'event') {
      const {
        confirmation_secret: _,
        payments: __,
        ...object
        // Events omit these, like answers without expand.
      } = structuredClone(about) as unknown as Record<string, unknown>;
      const before = announced.get(about.id) ?? original(about.id);
      const previous = kind === 'updated' && before ? previousAttributes(before, object) : undefined;
      if (kind === 'updated' || !before) announced.set(about.id, object);
      if (previous && Object.keys(previous).length === 0) return;
      const event: StripeEvent = {
        id: newId('evt'),
        object: 'event',
        api_version: '2026-10-28.endive',
        created: now(),
        data: { object, ...(previous && { previous_attributes: previous }) },
        livemode: false,
        pending_webhooks: 1,
        request: { id: null, idempotency_key: null },
        type,
      };
      store.put({ ...event, object: 'event' });
      waiting.push(store.get('event', event.id));
    },
    /** Deletes events after thirty days, as Stripe does. */
    forgetOldEvents() {
      for (const event of store.all('event')) {
        if (event.created >= now() - keepEventsForSeconds) return;
        store.drop(event.id);
      }
    },
    /** @returns an action that removes the events since now */
    mark(): () => void {
      const [announcedBefore, count] = [new Map(announced), waiting.length];
      return () => {
        announced = announcedBefore;
        waiting.length = count;
      };
    },
    deliver() {
      const complete = waiting;
      [waiting, announced] = [[], new Map()];
      for (const event of complete) onEvent(event);
    },
  };
}
