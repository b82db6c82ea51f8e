import { createHash } from 'node:crypto';
import { StandInError } from './engine/types.ts';

/** An answer as it was sent. */
export interface ApiAnswer {
  status: number;
  body: string;
  requestId: string;
}

interface StoredAnswer {
  endpoint: string;
  parameters: string;
  atMs: number;
  answer: ApiAnswer;
}

/** The parts of a request that must be equal when its key is used again. */
interface KeyedRequest {
  path: string;
  params: unknown;
}

const ttlMs = 24 * 60 * 60_000;
const maxKeyLength = 255;

const refusal = (message: string, status = 400, code?: string) =>
  new StandInError(message, { status, type: 'idempotency_error', ...(code !== undefined && { code }) });

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * Idempotency keys as Stripe treats them (docs.stripe.com/api/idempotent_requests): for 24 hours the same key with the
 * same parameters gets the first answer again; with others it is refused.
 * @param nowMs the stand-in's clock
 */
export function createIdempotency(nowMs: () => number) {
  const answers = new Map<string, StoredAnswer>();
  const keysInUse = new Set<string>();

  const digest = (params: unknown) => createHash('sha256').update(JSON.stringify(params)).digest('base64url');

  function removeExpired(): void {
    const oldest = nowMs() - ttlMs;
    // The oldest come first.
    for (const [key, { atMs }] of answers) {
      if (atMs > oldest) return;
      answers.delete(key);
    }
  }

  return {
    /**
     * Before a request is executed.
     * @returns the first answer, if there was one
     * @throws StandInError if the key was used for something else, or its first request is still in progress
     */
    begin(key: string, { path, params }: KeyedRequest): ApiAnswer | undefined {
      if (key.length > maxKeyLength) throw refusal(`Idempotency keys are at most ${maxKeyLength} characters long.`);
      if (keysInUse.has(key)) {
        throw refusal(
          'There is currently another in-progress request using this Idempotent Key (that probably means you submitted ' +
            `twice, and the other request is still going through): ${key}. Please try again later.`,
          409,
          'idempotency_key_in_use',
        );
      }
      removeExpired();
      const known = answers.get(key);
      if (known === undefined) {
        keysInUse.add(key);
        return undefined;
      }
      const other = `Try using a key other than '${key}' if you meant to execute a different request.`;
      if (known.endpoint !== path) {
        throw refusal(
          'Keys for idempotent requests can only be used for the same endpoint they were first used for ' +
            `('${path}' vs '${known.endpoint}'). ${other}`,
        );
      }
      if (known.parameters !== digest(params)) {
        throw refusal(
          `Keys for idempotent requests can only be used with the same parameters they were first used with. ${other}`,
        );
      }
      return known.answer;
    },
    /** The request was executed, even if its answer is an error of the execution. */
    store(key: string, { path, params }: KeyedRequest, answer: ApiAnswer): void {
      answers.set(key, { endpoint: path, parameters: digest(params), atMs: nowMs(), answer });
    },
    /** The answer has been sent. */
    end(key: string): void {
      keysInUse.delete(key);
    },
    snapshot: () => [...answers],
    restore(snapshot: unknown): void {
      answers.clear();
      for (const [key, stored] of snapshot as [string, StoredAnswer][]) answers.set(key, stored);
    },
  };
}
