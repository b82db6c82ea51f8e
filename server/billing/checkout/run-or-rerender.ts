import type { RequestContext } from '../../http/index.ts';
import { CardNotSavedError, type Quote, StripeUnavailableError } from '../results.ts';
import { type PageNotice, type StripeAction, unavailableNotice } from './checkout-texts.ts';

/** How a page is rendered again. */
export interface PageRetry {
  status: number;
  notice?: PageNotice;
  /** The current amount, if it is already known. */
  quote?: Quote;
}

export type Rerender = (repeated: PageRetry) => unknown;

const awayMs = 5_000;

/**
 * Runs an action that needs Stripe; if Stripe is unavailable, renders the page again.
 * `act` names it in the log; `rerender` renders the page, with status 503.
 * @returns undefined if the page was rendered
 */
export async function runOrRerender<R>(
  r: RequestContext,
  { act, rerender }: { act: string; rerender: (error: StripeUnavailableError) => unknown },
  work: () => Promise<R>,
): Promise<{ value: R } | undefined> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    r.log.warn({ err: error, act }, 'Stripe does not answer');
    r.setRetryAfter(awayMs);
    await rerender(error);
    return undefined;
  }
}

/**
 * The same for an action of the checkout, with the message for that action.
 * @returns undefined if the page was rendered
 */
export function runWithStripe<R>(
  r: RequestContext,
  { act, rerender }: { act: StripeAction; rerender: Rerender },
  work: () => Promise<R>,
): Promise<{ value: R } | undefined> {
  const repeat = (error: StripeUnavailableError) =>
    rerender({ status: 503, notice: unavailableNotice(r.t, error instanceof CardNotSavedError ? 'update' : act) });
  return runOrRerender(r, { act: `checkout: ${act}`, rerender: repeat }, work);
}
