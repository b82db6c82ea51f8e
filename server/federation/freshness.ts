import { recentAuthMs } from '../http/index.ts';
import type { UpstreamIdentity } from './identity.ts';

/**
 * The time of the authentication at the provider. A sign-in without proof of freshness counts as too old to be recent:
 * it can sign in, but not change credentials.
 * @returns undefined: now. Milliseconds since the epoch
 */
export function toShownAt(
  { stale, shownAtMs }: Pick<UpstreamIdentity, 'stale' | 'shownAtMs'>,
  nowMs: number,
): number | undefined {
  if (!stale) return shownAtMs;
  return Math.min(shownAtMs ?? Number.POSITIVE_INFINITY, nowMs - recentAuthMs - 1_000);
}
