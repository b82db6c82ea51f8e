import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { type Metrics, noMetrics } from '../metrics/index.ts';
import { boundedQueue, PasswordQueueFull } from './queue.ts';

/** What one hash costs: KiB, passes, lanes (RFC 9106, section 3.1). */
export interface HashCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** The least of OWASP's Password Storage Cheat Sheet for argon2id: 19 MiB, 2 passes, 1 lane. */
const usualCost: HashCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export interface PasswordHasher {
  /** PHC text. @throws {PasswordQueueFull} */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the one that was hashed. With null (no such member, or one without a password) the same
   * work is done and the answer is false, so that the time tells nothing. @throws {PasswordQueueFull}
   */
  verify(passwordHash: string | null, password: string): Promise<boolean>;
}

export function createPasswordHasher({
  queueMax,
  waitMs,
  metrics = noMetrics,
  cost = usualCost,
}: {
  queueMax: number;
  waitMs: number;
  metrics?: Metrics;
  /** Another is for tests alone, which hash thousands of passwords that protect nothing. */
  cost?: HashCost;
}): PasswordHasher {
  const queue = boundedQueue({ running: availableParallelism(), waiting: queueMax, waitMs });
  metrics.passwordQueue(queue.state);
  async function queued<T>(job: () => Promise<T>): Promise<T> {
    const beganMs = performance.now();
    try {
      const result = await queue.run(job);
      metrics.passwordHashed(performance.now() - beganMs);
      return result;
    } catch (error) {
      if (error instanceof PasswordQueueFull) metrics.passwordRefused(error.reason);
      throw error;
    }
  }
  const nobody = hash(randomBytes(16).toString('base64url'), cost);
  return {
    hash: (password) => queued(() => hash(password, cost)),
    verify: (passwordHash, password) =>
      queued(async () => {
        const matches = await verify(passwordHash ?? (await nobody), password);
        return passwordHash !== null && matches;
      }),
  };
}
