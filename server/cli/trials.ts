import type { Transaction } from 'kysely';
import { requestCustomer } from '../billing/index.ts';
import { deriveKey, type Schema } from '../store/index.ts';
import type { ImportOutcome, User } from '../users/index.ts';
import { billingClock } from './billing.ts';
import type { Context } from './context.ts';
import { refused } from './errors.ts';

/** In the transaction that adds the member: a running Foyer creates their customer and trial within a minute. */
type StartTrial = (trx: Transaction<Schema>, user: Pick<User, 'id' | 'email' | 'emailVerified'>) => Promise<void>;

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

/** The same for a batch of an import, by the outcome of each row. */
export type StartTrials = (
  trx: Transaction<Schema>,
  coming: readonly Parameters<StartTrial>[1][],
  outcomes: readonly ImportOutcome[],
) => Promise<void>;

/** An unconfirmed address gets its trial with the code. @throws {CliError} refused: no plans are sold */
export async function openImportTrials(context: Context): Promise<StartTrials> {
  const startTrial = await openTrials(context);
  return async (trx, coming, outcomes) => {
    for (const [index, member] of coming.entries()) {
      if (outcomes[index]?.kind === 'added' && member.emailVerified) await startTrial(trx, member);
    }
  };
}
