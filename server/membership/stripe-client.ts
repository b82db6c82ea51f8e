import type Stripe from 'stripe';
import { StripeUnavailableError } from './results.ts';

export interface StripeSettings {
  secretKey: string;
  /** Where its API is: `https://api.stripe.com`, or the sandbox's stand-in. */
  apiUrl: string;
}

/** What this process says to Stripe; the library is loaded when it is first needed. */
export type StripeClient = () => Promise<Stripe>;

/** Within which a request must be answered; the member waits. */
const timeoutMs = 20_000;

export function createStripe({ secretKey, apiUrl }: StripeSettings): StripeClient {
  let client: Promise<Stripe> | undefined;
  return () => {
    client ??= import('stripe').then(({ default: Library }) => {
      const { hostname, port, protocol } = new URL(apiUrl);
      return new Library(secretKey, {
        host: hostname,
        ...(port !== '' && { port }),
        protocol: protocol === 'http:' ? 'http' : 'https',
        // Once, with the same idempotency key: an answer that was lost is replayed.
        maxNetworkRetries: 1,
        timeout: timeoutMs,
        telemetry: false,
      });
    });
    return client;
  };
}

/** What Stripe said when it refused (https://docs.stripe.com/api/errors). */
export interface StripeRefusal {
  /** StripeCardError, StripeInvalidRequestError, StripeIdempotencyError … */
  type: string;
  code: string | undefined;
  message: string;
  statusCode: number | undefined;
}

/** undefined: no error of the library. */
export function toStripeRefusal(error: unknown): StripeRefusal | undefined {
  if (
    !(error instanceof Error) ||
    !('type' in error) ||
    typeof error.type !== 'string' ||
    !/^Stripe/.test(error.type)
  ) {
    return undefined;
  }
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  return {
    type: error.type,
    code: typeof code === 'string' ? code : undefined,
    message: error.message,
    statusCode: typeof statusCode === 'number' ? statusCode : undefined,
  };
}

/** Whether it may be said again: nobody knows what became of it, or Stripe was busy. */
function isConnectionError({ type, statusCode }: StripeRefusal): boolean {
  return (
    [
      'StripeConnectionError',
      'StripeAPIError',
      'StripeRateLimitError',
      'StripeAuthenticationError',
      'StripePermissionError',
    ].includes(type) ||
    // The same is being asked at this very moment, or something else of the same customer.
    statusCode === 409 ||
    (statusCode !== undefined && statusCode >= 500)
  );
}

/** Asks Stripe; what it cannot answer now becomes {@link StripeUnavailableError}, what it refuses stays the library's error. */
export async function callStripe<T>(client: StripeClient, ask: (stripe: Stripe) => Promise<T>): Promise<T> {
  const stripe = await client();
  try {
    return await ask(stripe);
  } catch (error) {
    const refusal = toStripeRefusal(error);
    if (refusal && isConnectionError(refusal)) throw new StripeUnavailableError(refusal.message, { cause: error });
    throw error;
  }
}

/** undefined where Stripe knows no such thing. */
export async function orNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (toStripeRefusal(error)?.code === 'resource_missing') return undefined;
    throw error;
  }
}
