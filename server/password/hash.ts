import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash } from '@node-rs/argon2';
import { type Metrics, noMetrics } from '../shared/index.ts';
import { createKeyedHashes, type HashCost, readKnownHash, toHashProfile } from './keyed-hashes.ts';
import { boundedQueue, PasswordQueueFullError, type PasswordWork, type QueueShares } from './queue.ts';
import { type StoredHash, toDecoyHash } from './stored-hash.ts';

/** The minimum of OWASP's Password Storage Cheat Sheet for argon2id: 19 MiB, 2 passes, 1 lane. */
const minCost: HashCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The profile of hashes that are as strong as Foyer's own, whatever service made them. */
export const ownProfile = toHashProfile(minCost);

export interface PasswordHasher {
  /** PHC text, with the id of the key before it. @throws {PasswordQueueFullError} */
  hash(password: string, work: PasswordWork): Promise<string>;
  /**
   * Tests a password against a hash, Foyer's own or an imported one (`stored-hash.ts`). With null (unknown user, or one
   * without a password), and with an invalid hash, it does the work of one of Foyer's own and returns false, so that
   * the time reveals nothing. @throws {PasswordQueueFullError}
   */
  verify(passwordHash: string | null, password: string, work: PasswordWork): Promise<boolean>;
  /** Wraps a weak imported hash in one of Foyer's own, without its password. Omitted: not supported. */
  wrap?(weak: { text: string; profile: string }): Promise<{ text: string; profile: string }>;
  /** Tests whether a hash differs from what `hash` creates now: another key, memory or passes. Omitted: never. */
  isOutdated?(passwordHash: string): boolean;
  /** How many passwords are hashed and wait, and how often one begins, in milliseconds. Omitted: none ever waits. */
  queue?(): { running: number; waiting: number; turnMs: number };
}

interface HasherSettings {
  queueMax: number;
  waitMs: number;
  shares?: QueueShares | undefined;
  metrics?: Metrics;
  /** A cost below `minCost` is only for tests, which hash thousands of passwords that protect nothing. */
  cost?: HashCost;
  /** SECRET_KEY, the newest first; without it hashes have no key. */
  secretKeys?: readonly string[];
  /**
   * The profiles of imported hashes. If given, a wrong password costs one of each and one of Foyer's own, for every
   * user, so that the time does not reveal whose hash was imported.
   */
  decoys?: (() => Promise<readonly StoredHash[]>) | undefined;
}

export function createPasswordHasher(settings: HasherSettings): PasswordHasher {
  const { queueMax, waitMs, shares, metrics = noMetrics, cost = minCost, secretKeys = [], decoys } = settings;
  const queue = boundedQueue({ running: availableParallelism(), waiting: queueMax, waitMs, ...(shares && { shares }) });
  metrics.passwordQueue(queue.state);
  async function queued<T>(work: PasswordWork, job: () => Promise<T>): Promise<T> {
    const beganMs = performance.now();
    try {
      const result = await queue.run(job, work);
      metrics.passwordHashed(performance.now() - beganMs);
      return result;
    } catch (error) {
      if (error instanceof PasswordQueueFullError) metrics.passwordRefused(error.reason);
      throw error;
    }
  }
  const hashes = createKeyedHashes(cost, secretKeys);
  // Users who have not signed in since the cost was raised have hashes with the minimum.
  const earlier = hashes.profile === ownProfile ? [] : [toDecoyHash(ownProfile) ?? []].flat();
  const nobody = hash(randomBytes(16).toString('base64url'), cost);
  return {
    hash: (password, work) => queued(work, () => hashes.make(password)),
    wrap: (weak) => queued('operator', () => hashes.wrap(weak)),
    isOutdated: hashes.isOutdated,
    queue: () => ({ ...queue.state(), turnMs: queue.turnMs() }),
    async verify(passwordHash, password, work) {
      const others = [...((await decoys?.()) ?? []), ...(decoys ? earlier : [])];
      return queued(work, async () => {
        const storedHash = passwordHash === null ? undefined : hashes.read(passwordHash);
        if (storedHash && (await storedHash.verify(password))) return true;
        if (!storedHash || (!storedHash.isOwn && others.length > 0))
          await readKnownHash(await nobody)?.verify(password);
        for (const decoy of without(others, storedHash?.foreign)) await decoy.verify(password);
        return false;
      });
    },
  };
}

/** The decoys that remain: all but one of the same profile, else the first of the same family. */
function without(others: readonly StoredHash[], done: StoredHash | undefined): readonly StoredHash[] {
  const same =
    done &&
    (others.find(({ profile }) => profile === done.profile) ?? others.find(({ family }) => family === done.family));
  return others.filter((other) => other !== same);
}
