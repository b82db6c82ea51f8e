import type * as Providers from './providers/index.ts';
import type { StripeStandIn, StripeStandInOptions } from './stripe/index.ts';

/** Loaded when a sandbox starts: a process of production has none of this code. */
export async function openStripeStandIn(options: StripeStandInOptions): Promise<StripeStandIn> {
  const { createStripeStandIn } = await import('./stripe/index.ts');
  return createStripeStandIn(options);
}

/** The same for the providers by which members sign in. */
export const loadProviderStandIns = (): Promise<typeof Providers> => import('./providers/index.ts');
