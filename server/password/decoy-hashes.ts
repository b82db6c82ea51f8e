import type { Database } from '../store/index.ts';
import { listImportedHashProfiles } from '../users/index.ts';
import { decoyOfProfile } from './keyed-hashes.ts';
import type { StoredHash } from './stored-hash.ts';

/** Each profile makes every wrong password more expensive; a service from which users were imported has one or two. */
const maxProfiles = 3;
/** The kinds of imported hashes change rarely. */
const keptMs = 60_000;

/**
 * The additional work for a wrong password besides Foyer's own hash, while users have imported hashes
 * (`createPasswordHasher`).
 */
export function createDecoyHashes(database: Database, now: () => number): () => Promise<readonly StoredHash[]> {
  let stored: { untilMs: number; decoys: Promise<readonly StoredHash[]> } | undefined;
  return () => {
    if (!stored || stored.untilMs <= now()) {
      const decoys = listImportedHashProfiles(database.db, maxProfiles).then((profiles) =>
        profiles.flatMap((profile) => decoyOfProfile(profile) ?? []),
      );
      const entry = { untilMs: now() + keptMs, decoys };
      stored = entry;
      // The next call tries again.
      decoys.catch(() => {
        if (stored === entry) stored = undefined;
      });
    }
    return stored.decoys;
  };
}
