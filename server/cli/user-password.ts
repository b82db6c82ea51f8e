import { toHashing } from '../deps.ts';
import { createOutbox } from '../messages/index.ts';
import { createPasswordHasher, replacePassword } from '../password/index.ts';
import type { UserId } from '../shared/index.ts';
import type { Context } from './context.ts';
import { refused } from './errors.ts';
import type { Result } from './io.ts';
import { counted } from './text.ts';
import { endEverything, passwordFaultTexts, requireUserByName, toUserJson } from './users.ts';

/**
 * Sets a user's password with the rule of a reset: all sessions end, devices are forgotten, a mail notifies the user.
 */
export async function setUserPassword(context: Context, who: string, password: string): Promise<Result> {
  const { config, database, boxes, now } = context;
  const user = await requireUserByName(context, who);
  const faults = await passwordFaultTexts(context, password, user);
  if (user.disabledAt !== null) faults.push(`${user.email}: is disabled; enable the member first`);
  if (faults.length > 0) throw refused(faults);
  const passwords = createPasswordHasher({
    queueMax: config.PASSWORD_QUEUE_MAX,
    waitMs: config.PASSWORD_QUEUE_WAIT_MS,
    ...toHashing(config),
  });
  const ended = { sessions: 0, grants: 0 };
  const sessions = {
    async endAll(userId: UserId) {
      const more = await endEverything(context, userId);
      ended.sessions += more.sessions;
      ended.grants += more.grants;
    },
  };
  // A running Foyer delivers the mail in its next turn.
  const outbox = createOutbox({ box: boxes.outbox, now });
  const replaced = await replacePassword({ database, passwords, outbox, sessions, now }, user, {
    password,
    lang: 'en',
  });
  if (!replaced) throw refused([`${user.email}: changed while this ran; try again`]);
  return {
    json: { ...toUserJson(context, replaced), ended },
    text: `Member ${user.email} has a new password, and is told so by mail. Ended: ${counted(ended.sessions, 'session')}, ${counted(ended.grants, 'grant')} to client apps with all tokens.`,
  };
}
