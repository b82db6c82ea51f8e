import type { Lease } from '../store/index.ts';

/** The lease of the worker, as this process knows it. */
interface OutboxLease {
  /** Tests whether this process holds it. */
  isHeld(): boolean;
  /** Takes or renews it when that is due, or at once. @returns whether this process holds it */
  hold(options?: { atOnce: boolean }): Promise<boolean>;
  release(): Promise<void>;
}

interface Settings {
  lease: Lease;
  leaseMs: number;
  leaseEveryMs: number;
  now: () => number;
  /** Called when another process holds it. */
  onRefused: () => void;
}

export function createOutboxLease({ lease, leaseMs, leaseEveryMs, now, onRefused }: Settings): OutboxLease {
  let heldUntil = 0;
  let nextAcquireAt = 0;
  const isHeld = () => now() < heldUntil;
  return {
    isHeld,
    async hold({ atOnce } = { atOnce: false }) {
      const requestedAt = now();
      if (atOnce || requestedAt >= nextAcquireAt) {
        nextAcquireAt = requestedAt + leaseEveryMs;
        const held = await lease.acquire();
        // A little shorter than the other processes see.
        heldUntil = held ? requestedAt + leaseMs * 0.9 : 0;
        if (!held) onRefused();
      }
      return isHeld();
    },
    async release() {
      if (heldUntil === 0) return;
      heldUntil = 0;
      await lease.release();
    },
  };
}
