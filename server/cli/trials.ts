import type { Transaction } from 'kysely';
import { requestCustomer } from '../billing/index.ts';
import { deriveKey, type Schema } from '../store/index.ts';
import type { User } from '../users/index.ts';
import { billingClock } from './billing.ts';
import type { Context } from './context.ts';
import { refused } from './errors.ts';

/** In the transaction that adds the member: a running Foyer creates their customer and trial within a minute. */
export type StartTrial = (
  trx: Transaction<Schema>,
  user: Pick<User, 'id' | 'email' | 'emailVerified'>,
) => Promise<void>;

/**
 * The trial of members who come without the sign-up is as long as in the post-signup flow.
 * @throws {CliError} refused: no plans are sold
 */
export async function openTrials(context: Context): Promise<StartTrial> {
  const { config } = context;
  if (config.STRIPE_SECRET_KEY === undefined)
    throw refused(['--trial: no plans are sold (STRIPE_SECRET_KEY is not set)']);
  const catalogue = context.catalogue();
  const trialKey = deriveKey(config.SECRET_KEYS[0] ?? '', 'trials', 32);
  const now = await billingClock(context);
  return (trx, user) =>
    requestCustomer(trx, { catalogue, trialKey, now }, { user, days: catalogue.trial.postSignUpDays });
}
