import { type Admission, admit, byNetwork, type GuessLimits } from '../password/index.ts';
import type { KeyValueStore } from '../store/index.ts';

/**
 * Counts a code that somebody types, before it is looked up (RFC 8628, section 5.1). Who is signed in is counted apart from
 * everybody else's guesses, so that strangers keep no member from connecting a device.
 */
export function admitUserCode(
  kv: KeyValueStore,
  limits: GuessLimits,
  { ip, member }: { ip: string; member: string | undefined },
): Promise<Admission> {
  return admit(kv, limits.windowMs, [
    ...byNetwork('user-code:address', ip, limits.address),
    member === undefined
      ? ['overall', 'user-code:overall', limits.overall, limits.slow]
      : ['account', `user-code:member:${member}`, limits.device],
  ]);
}
