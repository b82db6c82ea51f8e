import { recentAuthMs } from '../http/index.ts';
import type { UpstreamIdentity } from './identity.ts';

/**
 * When a person showed at the provider who they are. A sign-in that nothing shows to be fresh counts as older than all that
 * Foyer takes for recent: enough to be signed in, not to change what signs in.
 * @returns undefined: now. Milliseconds since the epoch
 */
export function toShownAt(
  { stale, shownAtMs }: Pick<UpstreamIdentity, 'stale' | 'shownAtMs'>,
  nowMs: number,
): number | undefined {
  if (!stale) return shownAtMs;
  return Math.min(shownAtMs ?? Number.POSITIVE_INFINITY, nowMs - recentAuthMs - 1_000);
}
