import type { AdapterPayload } from 'oidc-provider';

/** Detects whether a record that the library saves has changed. */
interface SaveTracker {
  /** The content of the store, as it was just read or written. */
  stored(key: string, payload: AdapterPayload): void;
  /** Tests whether saving would only prolong the record by an insignificant time. */
  isStored(key: string, payload: AdapterPayload, ttlSeconds: number): boolean;
  forget(key: string): void;
}

const max = 5_000;
/** The part of its lifetime by which a record may end early because it was not saved again. */
const hardly = 0.01;

const fingerprint = ({ exp: _, ...rest }: AdapterPayload) => JSON.stringify(rest);

/**
 * The library saves the session at every silent sign-on, although mostly only its end has moved, by seconds of a day or
 * a month. The stored record is then left unchanged. This also keeps a parallel change or end of the session, which the
 * save would undo.
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
