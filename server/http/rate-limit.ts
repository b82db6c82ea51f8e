import type { Request, RequestHandler } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import type { KeyValueStore } from '../store/index.ts';
import { countedAddress, countedNetworks } from './counted-address.ts';
import { HttpError } from './errors.ts';
import { retrySeconds } from './retry-after.ts';

/** Counts in the key-value store, so over all processes. */
class KeyValueCounters implements Store {
  readonly localKeys = false;
  readonly #kv: KeyValueStore;
  readonly #windowMs: number;
  readonly prefix: string;

  constructor(kv: KeyValueStore, name: string, windowMs: number) {
    this.#kv = kv;
    this.#windowMs = windowMs;
    this.prefix = `rate:${name}:`;
  }

  async increment(key: string) {
    const { count, expiresInMs } = await this.#kv.increment(this.prefix + key, this.#windowMs);
    return { totalHits: count, resetTime: new Date(Date.now() + expiresInMs) };
  }

  async decrement(key: string) {
    await this.#kv.increment(this.prefix + key, this.#windowMs, -1);
  }

  async resetKey(key: string) {
    await this.#kv.delete(this.prefix + key);
  }
}

interface RateLimit {
  name: string;
  /** For all callers alike, or for the caller of this request. */
  limit: number | ((req: Request) => number);
  windowMs: number;
}

/** Whose address alone is known is counted by the wider networks of the address as well, once its own limit has let it through. */
function limitNetworks(kv: KeyValueStore, { name, limit, windowMs }: RateLimit): RequestHandler {
  return async (req, _res, next) => {
    const own = typeof limit === 'number' ? limit : limit(req);
    const [, ...wider] = countedNetworks(req.ip ?? '');
    for (const { network, times } of wider) {
      const { count, expiresInMs } = await kv.increment(`rate:${name}:${network}`, windowMs);
      if (count > own * times) throw new HttpError('tooMany', { retryAfterSeconds: retrySeconds(expiresInMs) });
    }
    next();
  };
}

/**
 * Lets each caller through `limit` times in a window, and says how many are left (RateLimit and RateLimit-Policy, IETF
 * draft-ietf-httpapi-ratelimit-headers-08; Retry-After when refused).
 * @param caller who is counted; by default the address (IPv6: its /64 network) and its wider networks
 */
export function limitRate(
  kv: KeyValueStore,
  { name, limit, windowMs }: RateLimit,
  caller?: (req: Request) => string,
): RequestHandler {
  const limited = rateLimit({
    windowMs,
    limit,
    identifier: name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: caller ?? ((req) => countedAddress(req.ip ?? '')),
    store: new KeyValueCounters(kv, name, windowMs),
    handler: (_req, res) => {
      throw new HttpError('tooMany', {
        retryAfterSeconds: Number(res.getHeader('Retry-After')) || Math.ceil(windowMs / 1000),
      });
    },
    // The store says honestly when it is away: 503, not an open door.
    passOnStoreError: false,
    // The library asks for its own way of counting an IPv6 network; ours does the same, everywhere alike.
    validate: { trustProxy: false, xForwardedForHeader: false, keyGeneratorIpFallback: false },
  });
  if (caller !== undefined) return limited;
  const networks = limitNetworks(kv, { name, limit, windowMs });
  return (req, res, next) =>
    limited(req, res, (error?: unknown) => {
      if (error !== undefined) return next(error);
      Promise.resolve(networks(req, res, next)).catch(next);
    });
}
