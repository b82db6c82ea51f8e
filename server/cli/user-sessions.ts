import { type Language, resolveLanguage, translator } from '../http/index.ts';
import { byOperator, createOutbox, deviceName, notifySecurityChange } from '../messages/index.ts';
import { forgetRememberedDevices, listRememberedDevices } from '../mfa/index.ts';
import { createGrantHooks, listClientsBySession } from '../oidc/index.ts';
import { endOneSession, listSessions } from '../sessions/index.ts';
import type { SessionIdHash } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { AddCommand } from './command.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes, refused, usageError } from './errors.ts';
import type { Result } from './io.ts';
import { counted, moment, numericDate, table } from './text.ts';
import { endEverything, memberHelp, requireUserByName } from './user-records.ts';

/** Characters of an id in lists. An id is no secret, but a whole one is not needed either. */
const shownCharacters = 12;
/** With fewer a typing error could name another one. */
const minCharacters = 8;

interface Entry {
  kind: 'session' | 'remembered';
  id: string;
  /** The end of it; false if it has ended meanwhile. */
  end(context: Context): Promise<boolean>;
  change: 'session-ended' | 'device-forgotten';
  userAgent: string | undefined;
  ip: string;
  createdAtMs: number;
  lastUsedAtMs: number;
  clients: readonly string[];
}

const endSession = (user: User, idHash: SessionIdHash) => (context: Context) =>
  endOneSession({ kv: context.kv, hooks: createGrantHooks(context.grants) }, user.id, idHash);

/** The open sessions of a user, then the devices on which the second factor is skipped. */
async function listEntries({ database, kv, now }: Context, user: User): Promise<Entry[]> {
  const { db } = database;
  const [sessions, devices, clients] = await Promise.all([
    listSessions(kv, user.id),
    listRememberedDevices(db, user, now()),
    listClientsBySession(db, user.id, now()),
  ]);
  return [
    ...sessions.map(
      ({ idHash, userAgent, ip, createdAtMs, lastUsedAtMs }): Entry => ({
        kind: 'session',
        id: idHash,
        end: endSession(user, idHash),
        change: 'session-ended',
        userAgent,
        ip,
        createdAtMs,
        lastUsedAtMs,
        clients: clients.get(idHash) ?? [],
      }),
    ),
    ...devices.map(
      ({ id, userAgent, ip, createdAt, lastUsedAt }): Entry => ({
        kind: 'remembered',
        id,
        end: async (context) => (await forgetRememberedDevices(context.database.db, user.id, id)) > 0,
        change: 'device-forgotten',
        userAgent,
        ip,
        createdAtMs: createdAt,
        lastUsedAtMs: lastUsedAt,
        clients: [],
      }),
    ),
  ];
}

const toShortId = ({ id }: Entry) => id.slice(0, shownCharacters);
const toDeviceName = ({ userAgent }: Entry, lang: Language = 'en') => deviceName(translator(lang), userAgent);

async function showEntries(context: Context, who: string): Promise<Result> {
  const user = await requireUserByName(context, who);
  const entries = await listEntries(context, user);
  const json = entries.map((entry) => ({
    id: toShortId(entry),
    kind: entry.kind,
    device: toDeviceName(entry),
    address: entry.ip,
    created_at: numericDate(entry.createdAtMs),
    last_used_at: numericDate(entry.lastUsedAtMs),
    client_ids: entry.clients,
  }));
  const rows = entries.map((entry) => [
    toShortId(entry),
    entry.kind,
    toDeviceName(entry),
    entry.ip,
    moment(entry.createdAtMs),
    moment(entry.lastUsedAtMs),
    entry.clients.join(' '),
  ]);
  const headings = ['id', 'kind', 'device', 'address', 'since', 'last used', 'client apps'];
  return { json, text: table(headings, rows, 'No sessions, and no remembered devices.') };
}

/**
 * Records the change and notifies the member; a running Foyer delivers the mail in its next turn.
 * @param entry undefined: all of them have ended
 */
async function notifyMember({ database, boxes, now }: Context, user: User, entry?: Entry): Promise<void> {
  const outbox = createOutbox({ box: boxes.outbox, now });
  const change = entry?.change ?? 'all-sessions-ended';
  const detail = entry && toDeviceName(entry, resolveLanguage('en', user.locale ?? undefined));
  await database.transaction((trx) =>
    notifySecurityChange(trx, { outbox, now }, { user, change, from: byOperator, detail }),
  );
}

/** @throws {CliError} if the id names none of them, or several */
function findEntry(entries: readonly Entry[], id: string): Entry {
  if (id.length < minCharacters) throw refused([`end ${id}: write at least ${minCharacters} characters of the id`]);
  const [entry, other] = entries.filter((one) => one.id.startsWith(id));
  if (!entry) throw new CliError(exitCodes.notFound, `The member has no session or remembered device ${id}.`);
  if (other) throw refused([`end ${id}: is the beginning of several ids; write more characters`]);
  return entry;
}

async function endEntry(context: Context, who: string, id: string): Promise<Result> {
  const user = await requireUserByName(context, who);
  const entry = findEntry(await listEntries(context, user), id);
  const ended = await entry.end(context);
  if (ended) await notifyMember(context, user, entry);
  const isSession = entry.kind === 'session';
  return {
    json: { sub: user.id, ended: { sessions: Number(ended && isSession), remembered: Number(ended && !isSession) } },
    text: ended
      ? `${isSession ? 'The session' : 'The remembered device'} ${toShortId(entry)} (${toDeviceName(entry)}) of ${user.email} has ended. They are told by mail.`
      : `${toShortId(entry)} of ${user.email} had ended already.`,
  };
}

/** Ends all sessions and grants, and forgets the remembered devices. A second call ends nothing and sends no mail. */
async function endAllEntries(context: Context, who: string): Promise<Result> {
  const user = await requireUserByName(context, who);
  const remembered = await forgetRememberedDevices(context.database.db, user.id);
  const { sessions, grants } = await endEverything(context, user.id);
  if (sessions + grants + remembered > 0) await notifyMember(context, user);
  return {
    json: { sub: user.id, ended: { sessions, grants, remembered } },
    text: `Ended for ${user.email}: ${counted(sessions, 'session')}, ${counted(grants, 'grant')} to client apps with all tokens, ${counted(remembered, 'remembered device')}.`,
  };
}

interface SessionsOptions {
  end?: string;
  endAll?: boolean;
}

export const sessionsCommand = (add: AddCommand): void =>
  add('sessions', {
    description: 'where a member is signed in, and ending that',
    args: [['<member>', memberHelp]],
    options: [
      ['--end <ID>', 'end this session, or forget this remembered device; the beginning of its id suffices'],
      ['--end-all', 'end all of them, with all grants to client apps'],
    ],
    json: 'print JSON; times are NumericDates',
    help: `
A session is a browser in which the member is signed in; a remembered device skips their second factor. When a session
ends, so do its grants and tokens, and its client apps with back-channel logout get a logout token. The member is told
by mail, and can sign in again: \`foyer user disable\` prevents that.

Examples:
  foyer user sessions ada@example.com
  foyer user sessions ada@example.com --end Xq3_vT9bLr0a
  foyer user sessions ada@example.com --end-all`,
    run: (who: string, { end, endAll = false }: SessionsOptions) => {
      if (end !== undefined && endAll) throw usageError('write either --end <ID> or --end-all');
      if (endAll) return (context) => endAllEntries(context, who);
      return (context) => (end === undefined ? showEntries(context, who) : endEntry(context, who, end));
    },
  });
