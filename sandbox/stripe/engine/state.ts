import { createEngineClock } from './engine-clock.ts';
import { createEventBuffer } from './event-buffer.ts';
import type { StoredObject } from './kinds.ts';
import { createObjectStore } from './object-store.ts';
import { type EngineOptions, StandInError } from './types.ts';

export type State = ReturnType<typeof createState>;

interface Snapshot {
  version: number;
  offsetMs: number;
  objects: StoredObject[];
}

/**
 * Smart Retries as Stripe recommends them: 8 attempts within 2 weeks. Stripe chooses their days by itself, here they are
 * the same each time: days 1, 3, 5, 7, 10, 12 and 14 after the first attempt.
 */
const smartRetries: readonly number[] = [1, 2, 2, 2, 3, 2, 2];

/** All objects, a clock and events, which transactions change together. */
export function createState(options: EngineOptions) {
  const { movedMs, setMoved, ...clock } = createEngineClock(() => options.now());
  const store = createObjectStore();
  const { objects, ...typedAccess } = store;
  const events = createEventBuffer(store, { now: clock.now, onEvent: (event) => options.onEvent(event) });
  let rehearsals = 0;

  function transaction<T>(work: () => T, keep: boolean): T {
    const removeEvents = events.mark();
    objects.begin();
    let keeps = keep;
    try {
      return work();
    } catch (error) {
      keeps = keep && error instanceof StandInError && error.keeps;
      throw error;
    } finally {
      const outermost = objects.end(keeps);
      if (!keeps) removeEvents();
      if (outermost) events.deliver();
    }
  }

  return {
    origin: options.origin,
    draftsRenewals: options.draftsRenewals ?? false,
    retryAfterDays: options.retryAfterDays ?? smartRetries,
    ...clock,
    ...typedAccess,
    announce: events.announce,
    forgetOldEvents: events.forgetOldEvents,
    /** Executed completely or, if it fails, not at all. */
    perform: <T>(work: () => T): T => transaction(work, true),
    /** Executed and undone: only the result stays. */
    rehearse<T>(work: () => T): T {
      rehearsals += 1;
      try {
        return transaction(() => structuredClone(work()), false);
      } finally {
        rehearsals -= 1;
      }
    },
    /** In a rehearsal nothing is charged. */
    isRehearsal: () => rehearsals > 0,
    snapshot: (): Snapshot => structuredClone({ version: 1, offsetMs: movedMs(), objects: [...objects.values()] }),
    restore(snapshot: unknown) {
      const { version, offsetMs, objects: stored } = snapshot as Snapshot;
      if (version !== 1) throw new Error(`a snapshot of version ${version} is not known`);
      setMoved(offsetMs);
      objects.load(structuredClone(stored).map((each) => [each.id, each]));
    },
  };
}
