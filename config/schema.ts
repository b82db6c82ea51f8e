import { z } from 'zod';
import { billingVariables } from './billing-variables.ts';
import { federationVariables } from './federation-variables.ts';
import { messageVariables } from './message-variables.ts';
import { proxyVariables } from './outgoing-proxy.ts';
import { pageVariables } from './page-variables.ts';
import { serverVariables } from './server-variables.ts';
import { signInVariables } from './sign-in-variables.ts';

/**
 * The only configuration schema: from environment variables to typed values. Names include their units. The
 * variables are grouped by module. `load.ts` checks rules that depend on several variables (production, sandbox).
 */
export const schema = z.object({
  ...serverVariables,
  ...proxyVariables,
  ...pageVariables,
  ...messageVariables,
  ...billingVariables,
  ...federationVariables,
  ...signInVariables,
});

export type RawConfig = z.infer<typeof schema>;
export const variableNames = Object.keys(schema.shape) as (keyof RawConfig)[];
