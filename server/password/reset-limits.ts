import type { KeyValueStore } from '../store/index.ts';
import { type Admission, admit, byNetwork, type GuessLimits } from './guess-limits.ts';
import { ofMails } from './slow-lane.ts';

/**
 * Counts one asking for a code, or one guess at a code, beside what `codes` counts per flow and account. A known device is
 * counted alone, as at the sign-in.
 */
export function admitReset(
  kv: KeyValueStore,
  limits: GuessLimits,
  what: 'ask' | 'guess',
  { ip, device }: { ip: string; device?: string | undefined },
): Promise<Admission> {
  return admit(
    kv,
    limits.windowMs,
    device !== undefined
      ? [['device', `reset-${what}:device:${device}`, limits.device]]
      : [
          ...byNetwork(`reset-${what}:address`, ip, limits.address),
          ['overall', `reset-${what}:overall`, limits.overall, what === 'ask' ? ofMails(limits.slow) : limits.slow],
        ],
  );
}
