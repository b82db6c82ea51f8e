import { Option } from 'commander';
import { membershipClaims } from '../billing/index.ts';
import { listConnectedApps } from '../oidc/index.ts';
import { countSessions } from '../sessions/index.ts';
import { fullName, listUsers, setDisabled, type User } from '../users/index.ts';
import { type Program, parseNumber } from './command.ts';
import type { Context } from './context.ts';
import { factorResetCommand } from './factor-resets.ts';
import type { Result } from './io.ts';
import { signInFacts } from './sign-in-report.ts';
import { counted, moment, table } from './text.ts';
import { addCommand } from './user-add.ts';
import { deleteCommand } from './user-delete.ts';
import { userImportCommand } from './user-import.ts';
import { setPasswordCommand } from './user-password.ts';
import {
  describeUser,
  endEverything,
  memberHelp,
  requireUserByName,
  toUserJson,
  userJsonHelp,
  userState,
} from './user-records.ts';
import { sessionsCommand } from './user-sessions.ts';
import { updateCommand } from './user-update.ts';

/** The plan, the end of the trial, and the entitlements. */
function membershipFacts({ catalogue, now }: Context, user: User): [string, string][] {
  const plans = catalogue();
  const plan = plans.byId(user.planId);
  const trial =
    user.trialUntil !== null && user.trialUntil > now() ? `trial until ${moment(user.trialUntil)}` : undefined;
  const named = plan ? `${plan.name} (${plan.id}, ${plan.code})` : undefined;
  const { entitlements, seats } = membershipClaims(plans, now)(user);
  return [
    ['Plan', [named, trial].filter(Boolean).join(', ') || 'none'],
    ...(seats === undefined ? [] : [['Seats', String(seats)] satisfies [string, string]]),
    ['Gives', entitlements.join(' ') || 'none'],
  ];
}

async function showUsers(context: Context, { limit, after }: { limit: number; after?: string }): Promise<Result> {
  const { database, io } = context;
  const last = after === undefined ? undefined : await requireUserByName(context, after);
  const found = await listUsers(database.db, { limit: limit + 1, after: last });
  const users = found.slice(0, limit);
  if (found.length > limit) io.stderr.write(`There are more: --after ${users.at(-1)?.id}\n`);
  const rows = users.map((user) => [
    user.email,
    user.givenName || user.familyName ? fullName(user) : '',
    user.phone ?? '',
    userState(user),
    moment(user.createdAt),
    user.id,
  ]);
  const text = table(['e-mail', 'name', 'phone', 'state', 'created', 'member'], rows, 'No members.');
  return { json: users.map((user) => toUserJson(context, user)), text };
}

async function showUser(context: Context, who: string): Promise<Result> {
  const user = await requireUserByName(context, who);
  const [sessions, grants, signIn, apps] = await Promise.all([
    countSessions(context.kv, user.id),
    context.grants.count({ accountId: user.id }),
    signInFacts(context, user),
    listConnectedApps(context.database.db, user.id, context.now()),
  ]);
  const text = describeUser(user, [
    ...membershipFacts(context, user),
    ...signIn.facts,
    ['Sessions', `${sessions} open`],
    ['Grants', `${grants} to client apps`],
    ['Connected apps', apps.map(({ clientId }) => clientId).join(' ')],
  ]);
  return {
    json: {
      ...toUserJson(context, user),
      ...signIn.json,
      sessions,
      grants,
      connected_apps: apps.map(({ clientId }) => clientId),
    },
    text,
  };
}

async function disableUser(context: Context, who: string): Promise<Result> {
  const { database, now } = context;
  const user = await requireUserByName(context, who);
  // First the mark, then the end, so that no sign-in is possible in between. A second call completes an interrupted
  // one.
  const disabledAt = user.disabledAt ?? now();
  await setDisabled(database.db, user.id, { disabledAt, nowMs: now() });
  const ended = await endEverything(context, user.id);
  const already = user.disabledAt === null ? 'is disabled' : `was disabled already, since ${moment(disabledAt)}`;
  return {
    json: { ...toUserJson(context, { ...user, disabledAt }), ended },
    text: `Member ${user.email} ${already}. Ended: ${counted(ended.sessions, 'session')}, ${counted(ended.grants, 'grant')} to client apps with all tokens.`,
  };
}

async function enableUser(context: Context, who: string): Promise<Result> {
  const { database, now } = context;
  const user = await requireUserByName(context, who);
  if (user.disabledAt !== null) {
    // A sign-in that ran while the user was being disabled must not become valid now.
    await endEverything(context, user.id);
    await setDisabled(database.db, user.id, { disabledAt: null, nowMs: now() });
  }
  const text = user.disabledAt === null ? 'was not disabled' : 'is enabled and can sign in again';
  return { json: toUserJson(context, { ...user, disabledAt: null }), text: `Member ${user.email} ${text}.` };
}

export function userCommands({ group, io }: Program): void {
  const add = group('user', 'members');
  addCommand(add, io);
  userImportCommand(add);
  setPasswordCommand(add, io);
  factorResetCommand(add);
  sessionsCommand(add);
  updateCommand(add);
  deleteCommand(add);
  add('list', {
    description: 'members, the oldest first',
    options: [
      new Option('--limit <N>', 'at most so many').argParser(parseNumber(1, 10_000)).default(100),
      new Option('--after <member>', 'the members after this one'),
    ],
    json: userJsonHelp,
    help: '\nExample:\n  foyer user list --limit 20 --after ada@example.com',
    run: (options: { limit: number; after?: string }) => (context) => showUsers(context, options),
  });

  const args: [string, string][] = [['<member>', memberHelp]];
  add('show', {
    description: 'one member',
    args,
    json: userJsonHelp,
    help: '\nExample:\n  foyer user show ada@example.com',
    run: (who: string) => (context) => showUser(context, who),
  });
  add('disable', {
    description: 'sign a member out everywhere and let them in no more',
    args,
    json: userJsonHelp,
    help: `
All sessions end, and all grants with every code, access token and refresh token. What a client app keeps in a session of
its own, and an id token until it expires, is out of Foyer's reach.

Example:
  foyer user disable ada@example.com`,
    run: (who: string) => (context) => disableUser(context, who),
  });
  add('enable', {
    description: 'let a disabled member in again',
    args,
    json: userJsonHelp,
    help: '\nExample:\n  foyer user enable ada@example.com',
    run: (who: string) => (context) => enableUser(context, who),
  });
}
