import { countedAddress } from '../http/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { type Admission, admit, type GuessLimits } from './guess-limits.ts';

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
          ['address', `reset-${what}:address:${countedAddress(ip)}`, limits.address],
          ['overall', `reset-${what}:overall`, limits.overall],
        ],
  );
}
