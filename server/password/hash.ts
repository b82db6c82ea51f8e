import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash } from '@node-rs/argon2';
import { type Metrics, noMetrics } from '../metrics/index.ts';
import { boundedQueue, PasswordQueueFull, type PasswordWork, type QueueShares } from './queue.ts';
import { readHash, type StoredHash } from './stored-hash.ts';

/** What one hash costs: KiB, passes, lanes (RFC 9106, section 3.1). */
export interface HashCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** The least of OWASP's Password Storage Cheat Sheet for argon2id: 19 MiB, 2 passes, 1 lane. */
const usualCost: HashCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const profileOf = ({ memoryCost, timeCost, parallelism }: HashCost) =>
  `argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$32`;

/** The profile of every hash that Foyer makes. */
export const ownProfile = profileOf(usualCost);

export interface PasswordHasher {
  /** PHC text. @throws {PasswordQueueFull} */
  hash(password: string, work: PasswordWork): Promise<string>;
  /**
   * Whether the password is the one that was hashed, here or elsewhere (`stored-hash.ts`). With null (no such member, or one
   * without a password), and with what is no hash, the work of one of Foyer's own is done and the answer is false, so that
   * the time tells nothing. @throws {PasswordQueueFull}
   */
  verify(passwordHash: string | null, password: string, work: PasswordWork): Promise<boolean>;
}

export function createPasswordHasher({
  queueMax,
  waitMs,
  shares,
  metrics = noMetrics,
  cost = usualCost,
  decoys,
}: {
  queueMax: number;
  waitMs: number;
  shares?: QueueShares | undefined;
  metrics?: Metrics;
  /** Another is for tests alone, which hash thousands of passwords that protect nothing. */
  cost?: HashCost;
  /**
   * The profiles of members' hashes that were made elsewhere. Where they are given, a wrong password costs one of each
   * and one of Foyer's own, whoever it was tried for: the time does not tell whose hash came from elsewhere.
   */
  decoys?: (() => Promise<readonly StoredHash[]>) | undefined;
}): PasswordHasher {
  const queue = boundedQueue({ running: availableParallelism(), waiting: queueMax, waitMs, ...(shares && { shares }) });
  metrics.passwordQueue(queue.state);
  async function queued<T>(work: PasswordWork, job: () => Promise<T>): Promise<T> {
    const beganMs = performance.now();
    try {
      const result = await queue.run(job, work);
      metrics.passwordHashed(performance.now() - beganMs);
      return result;
    } catch (error) {
      if (error instanceof PasswordQueueFull) metrics.passwordRefused(error.reason);
      throw error;
    }
  }
  const nobody = hash(randomBytes(16).toString('base64url'), cost);
  const own = new Set([ownProfile, profileOf(cost)]);
  const known = (text: string) => {
    const read = readHash(text);
    return typeof read === 'string' ? undefined : read;
  };
  return {
    hash: (password, work) => queued(work, () => hash(password, cost)),
    async verify(passwordHash, password, work) {
      const others = (await decoys?.()) ?? [];
      return queued(work, async () => {
        const theirs = passwordHash === null ? undefined : known(passwordHash);
        if (theirs && (await theirs.verify(password))) return true;
        const isOwn = theirs !== undefined && own.has(theirs.profile);
        if (!theirs || (!isOwn && others.length > 0)) await known(await nobody)?.verify(password);
        for (const decoy of without(others, isOwn ? undefined : theirs)) await decoy.verify(password);
        return false;
      });
    },
  };
}

/** Those whose work has not been done: all but the one of the same profile, else the first of the same family. */
function without(others: readonly StoredHash[], done: StoredHash | undefined): readonly StoredHash[] {
  const same =
    done &&
    (others.find(({ profile }) => profile === done.profile) ?? others.find(({ family }) => family === done.family));
  return others.filter((other) => other !== same);
}
