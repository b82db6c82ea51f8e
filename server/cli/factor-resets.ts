import { findUser } from '../account/index.ts';
import { offersSms } from '../deps.ts';
import { askForFactorReset, cancelFactorReset, type FactorReset, waitingResets } from '../leaving/index.ts';
import { createOutbox } from '../messages/index.ts';
import { hourMs } from '../shared/index.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes, refused } from './errors.ts';
import type { Result } from './io.ts';
import { moment, numericDate, table } from './text.ts';
import { memberOf } from './users.ts';

const mostListed = 1_000;

/** A running Foyer delivers the messages at its next turn. */
const resetDeps = ({ config, database, boxes, now }: Context) => ({
  database,
  outbox: createOutbox({ box: boxes.outbox, now }),
  publicUrl: config.PUBLIC_URL,
  brandName: config.BRAND_NAME,
  now,
});

const resetJson = ({ userId, requestedAt, dueAt }: FactorReset) => ({
  sub: userId,
  requested_at: numericDate(requestedAt),
  due_at: numericDate(dueAt),
});

/** Takes a member's second factor away, after a while in which the member can say no. */
export async function resetFactors(context: Context, who: string): Promise<Result> {
  const { config } = context;
  const user = await memberOf(context, who);
  const waitMs = config.MFA_RESET_WAIT_HOURS * hourMs;
  const asked = await askForFactorReset(resetDeps(context), user.id, { waitMs, bySms: offersSms(config) });
  switch (asked.kind) {
    case 'gone':
      throw new CliError(exitCodes.notFound, `There is no member ${who}.`);
    case 'nothing':
      throw refused([`${user.email}: has no second factor`]);
    case 'waiting':
      throw refused([`${user.email}: a reset waits already, and happens on ${moment(asked.reset.dueAt)}`]);
    case 'asked':
      return {
        json: resetJson(asked.reset),
        text: `The second factor of ${user.email} is taken away on ${moment(asked.reset.dueAt)}, unless they say no. They are told now.`,
      };
  }
}

export async function cancelResetOf(context: Context, who: string): Promise<Result> {
  const user = await memberOf(context, who);
  if (!(await cancelFactorReset(resetDeps(context), user.id))) throw refused([`${user.email}: no reset waits`]);
  return {
    json: { sub: user.id, cancelled: true },
    text: `The second factor of ${user.email} stays. They are told so by mail.`,
  };
}

export async function showResets({ database }: Context): Promise<Result> {
  const resets = await waitingResets(database.db, { most: mostListed });
  const rows = await Promise.all(
    resets.map(async ({ userId, requestedAt, dueAt }) => {
      const user = await findUser(database.db, userId);
      return [user?.email ?? '', moment(requestedAt), moment(dueAt), userId];
    }),
  );
  const text = rows.length > 0 ? table(['e-mail', 'asked', 'due', 'member'], rows) : 'No reset waits.';
  return { json: resets.map(resetJson), text };
}
