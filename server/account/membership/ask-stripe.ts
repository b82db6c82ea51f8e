import { runOrRerender, StripeUnavailableError } from '../../billing/index.ts';
import type { RequestContext } from '../../http/index.ts';

/** Asks Stripe. @returns the refused form if Stripe is unavailable (the specification's section 8) */
export async function askStripe<R>(r: RequestContext, work: () => Promise<R>) {
  const title = 'checkout.unavailable.confirm';
  const answered = await runOrRerender(r, { act: `settings: ${title}`, rerender: () => undefined }, work);
  return answered ?? { status: 503, problem: { title: r.t(title), text: r.t('checkout.unavailable.text') } };
}

/** Reads what a page shows if Stripe answers; the page can also be used while Stripe is unavailable. */
export async function readIfAvailable<R>(
  r: RequestContext,
  act: string,
  read: () => Promise<R>,
): Promise<R | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    r.log.warn({ err: error, act }, 'Stripe does not answer');
    return undefined;
  }
}
