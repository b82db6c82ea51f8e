import type { AdapterPayload } from 'oidc-provider';

/** Tells whether a record that the library saves says anything new. */
export interface SaveTracker {
  /** What the store has, as it was just read or written. */
  stored(key: string, payload: AdapterPayload): void;
  /** Whether saving this would only prolong the record, and hardly so. */
  isStored(key: string, payload: AdapterPayload, ttlSeconds: number): boolean;
  forget(key: string): void;
}

const max = 5_000;
/** The part of its life by which a record may end early because it was not saved again. */
const hardly = 0.01;

const fingerprint = ({ exp: _, ...rest }: AdapterPayload) => JSON.stringify(rest);

/**
 * The library saves the session at every silent sign-on, though mostly nothing but its end has moved, by seconds of a day
 * or a month. What stands in the store is then left as it is: also when another request has changed or ended the
 * session meanwhile, which this save would undo.
 */
export function createSaveTracker(): SaveTracker {
  const known = new Map<string, { fingerprint: string; exp: number }>();
  return {
    stored(key, payload) {
      known.delete(key);
      if (known.size >= max) known.clear();
      known.set(key, { fingerprint: fingerprint(payload), exp: payload.exp ?? 0 });
    },
    isStored(key, payload, ttlSeconds) {
      const before = known.get(key);
      if (!before || (payload.exp ?? 0) - before.exp > ttlSeconds * hardly) return false;
      return before.fingerprint === fingerprint(payload);
    },
    forget(key) {
      known.delete(key);
    },
  };
}
