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
