import type { Response } from 'express';
import { type Logger, setRetryAfter } from '../../http/index.ts';
import { StripeUnavailableError } from '../results.ts';

const awayMs = 5_000;

/**
 * Runs an action that needs Stripe; if Stripe is unavailable, renders the page again.
 * @param act for the log
 * @param rerender renders the page, with status 503
 * @returns undefined if the page was rendered
 */
export async function runOrRerender<R>(
  { log }: { log: Logger },
  res: Response,
  act: string,
  rerender: () => unknown,
  work: () => Promise<R>,
): Promise<{ value: R } | undefined> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    log.warn({ err: error, act }, 'Stripe does not answer');
    setRetryAfter(res, awayMs);
    await rerender();
    return undefined;
  }
}
