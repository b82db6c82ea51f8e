import type { ReactElement } from 'react';
import type { PageContext } from '../../views/page-context.ts';
import { accountSamples } from './samples/accounts.tsx';
import { checkoutSamples } from './samples/checkout.tsx';
import type { Sample } from './samples/context.ts';
import { dashboardSamples } from './samples/dashboard.tsx';
import { errorSamples } from './samples/errors.tsx';
import { federationSamples } from './samples/federation.tsx';
import { oauthSamples } from './samples/oauth.tsx';
import { paymentSamples } from './samples/payment.tsx';
import { sandboxSamples } from './samples/sandbox.tsx';
import { settingsSamples } from './samples/settings.tsx';

/** Every page in every state that looks different, by name. */
export function everyPage(ctx: PageContext): Record<string, Sample> {
  return {
    ...accountSamples(ctx),
    ...checkoutSamples(ctx),
    ...dashboardSamples(ctx),
    ...federationSamples(ctx),
    ...oauthSamples(ctx),
    ...errorSamples(ctx),
    ...paymentSamples(ctx),
    ...sandboxSamples(ctx),
    ...settingsSamples(ctx),
  };
}

/** One of them, rendered by the caller. */
export function samplePage(ctx: PageContext, name: string): ReactElement {
  const sample = everyPage(ctx)[name];
  if (sample === undefined) throw new Error(`There is no page ${name}`);
  return sample.page;
}
