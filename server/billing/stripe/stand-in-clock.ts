/** A stand-in for Stripe: where it is, and the secret key it accepts. */
export interface StandInAddress {
  apiUrl: string;
  secretKey: string;
}

/** Stripe's time, which a stand-in can advance. */
export interface BillingClock {
  /** The last known time (milliseconds since the epoch). */
  now(): number;
  /** Reads how far it was advanced. */
  refresh(): Promise<void>;
  /** Reads it periodically, until the returned function is called. */
  follow(): () => void;
}

const everyMs = 5_000;
const patienceMs = 2_000;

/** The time of a stand-in for Stripe: trials and periods end by it. Sessions and codes go by the machine's. */
export function createStandInClock({ apiUrl, secretKey }: StandInAddress, now: () => number): BillingClock {
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
