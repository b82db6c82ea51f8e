import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash } from '@node-rs/argon2';
import { type Metrics, noMetrics } from '../metrics/index.ts';
import { createPepper, pepperedText, readPeppered } from './pepper.ts';
import { boundedQueue, PasswordQueueFullError, type PasswordWork, type QueueShares } from './queue.ts';
import { readHash, type StoredHash, toDecoyHash } from './stored-hash.ts';
import { readWrapped, wrappedProfile, wrappedText } from './wrapped-hash.ts';

/** The cost of one hash: KiB, passes, lanes (RFC 9106, section 3.1). */
export interface HashCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** The minimum of OWASP's Password Storage Cheat Sheet for argon2id: 19 MiB, 2 passes, 1 lane. */
const minCost: HashCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const toHashProfile = ({ memoryCost, timeCost, parallelism }: HashCost) =>
  `argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$32`;

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

const known = (text: string) => {
  const read = readHash(text);
  return typeof read === 'string' ? undefined : read;
};

/** How a stored text is checked, and the work of that besides Foyer's own. */
interface Readable {
  verify(password: string): Promise<boolean>;
  /** It costs as much as one of Foyer's own. */
  isOwn: boolean;
  /** The imported hash. */
  foreign: StoredHash | undefined;
}

/** Creates and reads stored hashes, with the key before argon2id if there is one. */
function keyedHashes(cost: HashCost, secretKeys: readonly string[]) {
  const pepper = secretKeys.length > 0 ? createPepper(secretKeys) : undefined;
  const profile = toHashProfile(cost);
  async function make(password: string): Promise<string> {
    if (!pepper) return hash(password, cost);
    return pepperedText(pepper.id, await hash(pepper.apply(pepper.id, password) ?? '', cost));
  }

  function readOwn(text: string): StoredHash | undefined {
    const peppered = readPeppered(text);
    if (!peppered) return known(text);
    const inner = known(peppered.argon2id);
    if (!inner) return undefined;
    return {
      ...inner,
      async verify(password) {
        const keyed = pepper?.apply(peppered.id, password);
        // Made with a removed key: the same work, and no password matches.
        return (await inner.verify(keyed ?? password)) && keyed !== undefined;
      },
    };
  }

  return {
    profile,
    make,
    /** Undefined: no password can match it. */
    read(text: string): Readable | undefined {
      const wrapped = readWrapped(text);
      const stored = readOwn(wrapped?.outer ?? text);
      if (!stored) return undefined;
      const isOwn = stored.profile === profile;
      if (!wrapped) return { verify: stored.verify, isOwn, foreign: isOwn ? undefined : stored };
      const { weak } = wrapped;
      return { verify: async (password) => stored.verify(await weak.rerender(password)), isOwn, foreign: weak };
    },
    async wrap(weak: { text: string; profile: string }) {
      return { text: wrappedText(weak.text, await make(weak.text)), profile: wrappedProfile(weak.profile) };
    },
    isOutdated(text: string): boolean {
      const peppered = readPeppered(text);
      if ((peppered?.id ?? '') !== (pepper?.id ?? '')) return true;
      return known(peppered?.argon2id ?? text)?.profile !== profile;
    },
  };
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
  const hashes = keyedHashes(cost, secretKeys);
  // Users who have not signed in since the cost was raised have hashes with the minimum.
  const earlier = hashes.profile === ownProfile ? [] : [toDecoyHash(ownProfile) ?? []].flat();
  const nobody = hash(randomBytes(16).toString('base64url'), cost);
  return {
    hash: (password, work) => queued(work, () => hashes.make(password)),
    wrap: (weak) => queued('operator', () => hashes.wrap(weak)),
    isOutdated: hashes.isOutdated,
    async verify(passwordHash, password, work) {
      const others = [...((await decoys?.()) ?? []), ...(decoys ? earlier : [])];
      return queued(work, async () => {
        const storedHash = passwordHash === null ? undefined : hashes.read(passwordHash);
        if (storedHash && (await storedHash.verify(password))) return true;
        if (!storedHash || (!storedHash.isOwn && others.length > 0)) await known(await nobody)?.verify(password);
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
