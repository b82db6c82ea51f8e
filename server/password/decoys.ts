import { foreignProfiles } from '../account/index.ts';
import type { Database } from '../store/index.ts';
import type { StoredHash } from './stored-hash.ts';
import { decoyOfProfile } from './wrapped-hash.ts';

/** Each makes every wrong password dearer; a service that members come from has one or two. */
const mostProfiles = 3;
/** Members come and sign in all the time; the kinds of their hashes change rarely. */
const keptMs = 60_000;

/**
 * What is done for a wrong password beside the work of Foyer's own hash, while members have hashes from elsewhere
 * (`createPasswordHasher`).
 */
export function createDecoys(database: Database, now: () => number): () => Promise<readonly StoredHash[]> {
  let kept: { untilMs: number; decoys: Promise<readonly StoredHash[]> } | undefined;
  return () => {
    if (!kept || kept.untilMs <= now()) {
      const decoys = foreignProfiles(database.db, mostProfiles).then((profiles) =>
        profiles.flatMap((profile) => decoyOfProfile(profile) ?? []),
      );
      const mine = { untilMs: now() + keptMs, decoys };
      kept = mine;
      // The next one asks again.
      decoys.catch(() => {
        if (kept === mine) kept = undefined;
      });
    }
    return kept.decoys;
  };
}
