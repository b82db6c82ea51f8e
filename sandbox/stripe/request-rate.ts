export type RequestRate = ReturnType<typeof createRequestRate>;

/**
 * Stripe's limit of requests per second: 100 in live mode, 25 in a sandbox (docs.stripe.com/rate-limits).
 * @param perSecond undefined: no limit
 */
export function createRequestRate(perSecond: number | undefined, now: () => number = () => performance.now()) {
  let left = perSecond ?? 0;
  let at = now();
  return {
    /** @returns false if the request is one too many */
    take(): boolean {
      if (perSecond === undefined) return true;
      const nowMs = now();
      left = Math.min(perSecond, left + ((nowMs - at) / 1_000) * perSecond);
      at = nowMs;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
