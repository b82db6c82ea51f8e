import type { Transaction } from 'kysely';
import { type DigestSet, toUserId, type UserId } from '../shared/index.ts';
import type { Db, NewRow, Schema } from '../store/index.ts';
import { listReservedEmails } from './email-change-store.ts';
import {
  decideImport,
  type ExistingUsers,
  type ImportedUser,
  type ImportOutcome,
  noExistingUsers,
} from './import-rules.ts';
import { addEarlierRows, keepRows } from './rehearsed-rows.ts';
import { insertUserRecords } from './user-record-store.ts';

/** The time of an import, and its view of other modules. */
interface ImportSettings {
  nowMs: number;
  /** The erased ones among these users; account/ knows them, in a higher layer. */
  listErasedUsers(db: Db, ids: readonly UserId[]): Promise<UserId[]>;
}

/** The existing data about the imported users. */
async function findExisting(
  db: Db,
  coming: readonly ImportedUser[],
  { nowMs, listErasedUsers }: ImportSettings,
): Promise<ExistingUsers> {
  const known = noExistingUsers();
  const ids = coming.map(({ id }) => id);
  const emails = coming.map(({ email }) => email);
  const phones = coming.flatMap(({ phone }) => phone ?? []);
  const usernames = coming.flatMap(({ preferredUsername }) => preferredUsername ?? []);
  const select = db.selectFrom('users').select(['id', 'email', 'phone', 'phoneVerified', 'preferredUsername']);
  // One after the other: an address is first looked for among the users, then among the reserved ones (`insertUser`).
  const rows = [
    ...(await select.where('id', 'in', ids).execute()),
    ...(await select.where('email', 'in', emails).execute()),
    ...(phones.length > 0 ? await select.where('phone', 'in', phones).execute() : []),
    ...(usernames.length > 0 ? await select.where('preferredUsername', 'in', usernames).execute() : []),
  ];
  for (const { id, email, phone, phoneVerified, preferredUsername } of rows) {
    known.members.set(id, email);
    known.emails.set(email, id);
    if (phone !== null) known.phones.set(phone, { id, verified: phoneVerified === 1 });
    if (preferredUsername !== null) known.usernames.add(preferredUsername);
  }
  for (const { email, userId } of await listReservedEmails(db, emails, nowMs)) {
    if (!known.emails.has(email)) known.emails.set(email, userId);
  }
  for (const id of await listErasedUsers(db, ids)) known.left.add(id);
  return known;
}

const toNewRow = (member: ImportedUser, nowMs: number): NewRow<'users'> => ({
  ...member,
  emailVerified: Number(member.emailVerified),
  phoneVerified: Number(member.phoneVerified),
  // Only the other service knows when they accepted the terms.
  locale: member.locale ?? '',
  source: 'general',
  newsletter: Number(member.newsletter),
  importedAt: nowMs,
  updatedAt: nowMs,
});

/** How often users are decided again after a conflict with a parallel insert. */
const maxRounds = 3;

/**
 * Adds imported users, with their records. Existing users stay unchanged, so an import can be repeated.
 * @param coming some hundreds at a time
 * @returns the outcome of each, in their order
 */
export function insertImportedUsers(
  trx: Transaction<Schema>,
  coming: readonly ImportedUser[],
  settings: ImportSettings,
): Promise<ImportOutcome[]> {
  return insertRound(trx, coming, { ...settings, round: 1 });
}

async function insertRound(
  trx: Transaction<Schema>,
  coming: readonly ImportedUser[],
  { round, ...settings }: ImportSettings & { round: number },
): Promise<ImportOutcome[]> {
  if (coming.length === 0) return [];
  const { nowMs } = settings;
  const known = await findExisting(trx, coming, settings);
  const { outcomes, add, release } = decideImport(coming, known);
  if (release.length > 0) {
    await trx
      .updateTable('users')
      .set({ phone: null, updatedAt: nowMs })
      .where('id', 'in', release)
      .where('phoneVerified', '=', 0)
      .execute();
  }
  if (add.length === 0) return outcomes;
  const inserted = await trx
    .insertInto('users')
    .values(add.map((member) => toNewRow(member, nowMs)))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  const ids = new Set(inserted.map(({ id }) => id));
  await insertUserRecords(trx, [...ids], nowMs);
  if (ids.size === add.length) return outcomes;
  // A parallel insert took an address, a number or an id after the check.
  const missed = coming.filter(({ id }, index) => outcomes[index]?.kind === 'added' && !ids.has(id));
  const rerender: ImportOutcome[] =
    round < maxRounds
      ? await insertRound(trx, missed, { ...settings, round: round + 1 })
      : missed.map(() => ({ kind: 'refused', why: 'email-taken' }));
  const later = new Map(missed.map(({ id }, index) => [id, rerender[index]]));
  return outcomes.map((outcome, index) => later.get(coming[index]?.id ?? toUserId('')) ?? outcome);
}

/**
 * Computes the outcomes without changing anything.
 * @param settings.earlier the users of earlier calls: those further up in a file exist for those further down
 */
export async function rehearseImport(
  db: Db,
  coming: readonly ImportedUser[],
  { earlier, ...settings }: ImportSettings & { earlier: DigestSet },
): Promise<ImportOutcome[]> {
  if (coming.length === 0) return [];
  const known = await findExisting(db, coming, settings);
  addEarlierRows(known, coming, earlier);
  const { outcomes, add } = decideImport(coming, known);
  keepRows(add, earlier);
  return outcomes;
}
