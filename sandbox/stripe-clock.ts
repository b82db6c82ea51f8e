import type { StandInAddress } from './billing-routes.ts';

export interface StandInClock {
  /** The stand-in's time, as far as it was heard of (milliseconds since the epoch). */
  now(): number;
  /** Asks how far it was moved. */
  refresh(): Promise<void>;
  /** Asks so again and again, until what it answers is called. */
  follow(): () => void;
}

const everyMs = 5_000;
const patienceMs = 2_000;

/**
 * The time that the sandbox's stand-in for Stripe has, which its page can move: by it trials and periods end. Sessions and
 * codes go by the machine's.
 */
export function createStandInClock({ apiUrl, secretKey }: StandInAddress, now: () => number): StandInClock {
  let movedMs = 0;
  async function refresh(): Promise<void> {
    const answer = await fetch(`${apiUrl}/stand-in/control/clock`, {
      headers: { authorization: `Bearer ${secretKey}` },
      signal: AbortSignal.timeout(patienceMs),
    }).catch(() => undefined);
    if (answer?.ok) ({ movedMs } = (await answer.json()) as { movedMs: number });
  }
  return {
    now: () => now() + movedMs,
    refresh,
    follow() {
      const timer = setInterval(() => void refresh(), everyMs).unref();
      return () => clearInterval(timer);
    },
  };
}
