import type Stripe from 'stripe';
import { StripeUnavailableError } from '../results.ts';

export interface StripeSettings {
  secretKey: string;
  /** Address of its API: `https://api.stripe.com`, or the sandbox's stand-in. */
  apiUrl: string;
}

/** The client of this process; the library is loaded at its first use. */
export type StripeClient = () => Promise<Stripe>;

/** Timeout of a request; the user waits. */
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
        // Once, with the same idempotency key: Stripe replays a lost answer.
        maxNetworkRetries: 1,
        timeout: timeoutMs,
        telemetry: false,
      });
    });
    return client;
  };
}

/** The content of Stripe's error (https://docs.stripe.com/api/errors). */
export interface StripeRefusal {
  /** StripeCardError, StripeInvalidRequestError, StripeIdempotencyError … */
  type: string;
  code: string | undefined;
  message: string;
  statusCode: number | undefined;
}

/** undefined: not an error of the library. */
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

/** Tests whether the call can be repeated: its result is unknown, or Stripe was busy. */
function isConnectionError({ type, statusCode }: StripeRefusal): boolean {
  return (
    [
      'StripeConnectionError',
      'StripeAPIError',
      'StripeRateLimitError',
      'StripeAuthenticationError',
      'StripePermissionError',
    ].includes(type) ||
    // A parallel call has the same key, or changes the same customer.
    statusCode === 409 ||
    (statusCode !== undefined && statusCode >= 500)
  );
}

/** Calls Stripe. An unavailable Stripe becomes {@link StripeUnavailableError}; a refusal stays the library's error. */
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

/** undefined if the object does not exist at Stripe. */
export async function orNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (toStripeRefusal(error)?.code === 'resource_missing') return undefined;
    throw error;
  }
}
