import type { RefusedSignIn } from './audit-hooks.ts';
import type { AuditEntry } from './events.ts';

/** Events of one process in one minute: more refusals share one event without a member. */
export const maxRefusalEvents = 100;
/** Of these at most so many from one address, so that it cannot displace the others. */
export const maxRefusalsPerAddress = 10;

interface Refusal extends RefusedSignIn {
  /** Browser and operating system. */
  device: string | null;
}

/** Counts refused sign-ins in memory: a stranger determines neither the number of events nor when they are written. */
interface RefusalCounter {
  count(refused: Refusal): void;
  /** The events of the refusals since the last call. */
  take(atMs: number): AuditEntry[];
}

export function createRefusalCounter(): RefusalCounter {
  let counts = new Map<string, Refusal & { attempts: number }>();
  let perAddress = new Map<string, number>();
  let others = 0;
  return {
    count(refused) {
      const { userId = null, method, provider = null, reason = null, ip, device } = refused;
      const key = JSON.stringify([userId, method, provider, reason, ip, device]);
      const known = counts.get(key);
      if (known) {
        known.attempts += 1;
        return;
      }
      const fromAddress = perAddress.get(ip) ?? 0;
      if (counts.size >= maxRefusalEvents || fromAddress >= maxRefusalsPerAddress) {
        others += 1;
        return;
      }
      perAddress.set(ip, fromAddress + 1);
      counts.set(key, { ...refused, attempts: 1 });
    },
    take(atMs) {
      const actor = { kind: 'visitor' } as const;
      const events: AuditEntry[] = [...counts.values()].map(
        ({ userId, method, provider, reason, attempts, ip, device }) => ({
          type: 'sign-in.refused',
          details: { method, attempts, provider, reason },
          subject: userId,
          address: ip,
          device,
          actor,
          atMs,
        }),
      );
      if (others > 0) events.push({ type: 'sign-in.refused-many', details: { attempts: others }, actor, atMs });
      [counts, perAddress, others] = [new Map(), new Map(), 0];
      return events;
    },
  };
}
