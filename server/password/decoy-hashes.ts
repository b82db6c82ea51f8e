import type { Database } from '../store/index.ts';
import { listImportedHashProfiles } from '../users/index.ts';
import type { StoredHash } from './stored-hash.ts';
import { decoyOfProfile } from './wrapped-hash.ts';

/** Each makes every wrong password dearer; a service that members come from has one or two. */
const maxProfiles = 3;
/** Members come and sign in all the time; the kinds of their hashes change rarely. */
const keptMs = 60_000;

/**
 * What is done for a wrong password beside the work of Foyer's own hash, while members have hashes from elsewhere
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
      // The next one asks again.
      decoys.catch(() => {
        if (stored === entry) stored = undefined;
      });
    }
    return stored.decoys;
  };
}
