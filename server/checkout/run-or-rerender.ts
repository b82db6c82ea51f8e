import type { Response } from 'express';
import { type Logger, setRetryAfter } from '../http/index.ts';
import { StripeUnavailableError } from '../membership/index.ts';

const awayMs = 5_000;

/**
 * Does what needs Stripe; where it does not answer, the page is shown again.
 * @param act for the log
 * @param rerender shows the page, which answers 503
 * @returns undefined when the page has been shown
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
