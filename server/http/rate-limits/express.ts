import type { Request, RequestHandler } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { HttpError, toRetrySeconds } from '../errors.ts';
import {
  consumeCounters,
  ipBucket,
  ipBuckets,
  type Limit,
  type LimitCounter,
  type LimitStore,
  toCounterKey,
} from './consume.ts';

/** Counts in the key-value store, so over all processes. */
class KeyValueRateStore implements Store {
  readonly localKeys = false;
  readonly prefix: string;
  readonly #kv: LimitStore;
  readonly #window: number;

  constructor(kv: LimitStore, prefix: string, window: number) {
    this.#kv = kv;
    this.#window = window;
    this.prefix = prefix;
  }

  async increment(value: string) {
    const { count, expiresInMs } = await this.#kv.consumeCount(toCounterKey({ key: this.prefix }, value), this.#window);
    return { totalHits: count, resetTime: new Date(Date.now() + expiresInMs) };
  }

  async decrement(value: string) {
    await this.#kv.consumeCount(toCounterKey({ key: this.prefix }, value), this.#window, -1);
  }

  /** The library calls it only on request, and no code requests it. */
  resetKey(): void {}
}

interface RateLimiterOptions {
  /** The value that is counted; by default the address of the request. */
  toKey(req: Request): string;
  /** The maximum for the caller of this request. */
  max?(req: Request): number;
}

/** Names of limits in RateLimit and RateLimit-Policy are public. */
const toPublicName = (key: string) => key.replace(/^rate:/, '');

/**
 * Middleware for a limit of one counter. Each answer says how many requests are left (RateLimit and RateLimit-Policy, IETF
 * draft-ietf-httpapi-ratelimit-headers-08), and a refusal when to come back (Retry-After).
 */
export function rateLimiter(
  kv: LimitStore,
  { window, counters: [counter] }: Limit<'client'> | Limit<'address'>,
  options?: RateLimiterOptions,
): RequestHandler {
  if (counter === undefined) throw new Error('a limit without a counter');
  const store = new KeyValueRateStore(kv, counter.key, window);
  const toKey = options?.toKey ?? ((req: Request) => ipBucket(req.ip ?? ''));
  const limited = rateLimit({
    windowMs: window,
    limit: (req) => options?.max?.(req) ?? counter.max,
    identifier: toPublicName(counter.key),
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: toKey,
    store,
    async handler(req, res) {
      await store.decrement(toKey(req));
      const seconds = Number(res.getHeader('Retry-After') ?? window / 1000);
      throw new HttpError('tooMany', { retryAfterSeconds: toRetrySeconds(seconds * 1000) });
    },
    // An unavailable store is answered with 503, and no request passes.
    passOnStoreError: false,
    // The library expects its own function for IPv6 networks; `ipBucket` does the same for every limit of the product.
    validate: { trustProxy: false, xForwardedForHeader: false, keyGeneratorIpFallback: false },
  });
  if (options !== undefined) return limited;
  return (req, res, next) =>
    limited(req, res, (error?: unknown) => {
      if (error !== undefined) return next(error);
      consumeWiderNetworks(kv, { ...counter, window }, req.ip ?? '').then(() => next(), next);
    });
}

/** @throws {HttpError} tooMany */
async function consumeWiderNetworks(
  kv: LimitStore,
  counter: LimitCounter & { window: number },
  ip: string,
): Promise<void> {
  const [narrowest, ...wider] = ipBuckets(ip).map(({ bucket, factor }) => ({
    ...counter,
    key: toCounterKey(counter, bucket),
    max: counter.max * factor,
  }));
  const decision = await consumeCounters(kv, wider);
  if (decision.allowed) return;
  if (narrowest) await kv.consumeCount(narrowest.key, counter.window, -1);
  throw new HttpError('tooMany', { retryAfterSeconds: toRetrySeconds(decision.retryAfterMs) });
}
