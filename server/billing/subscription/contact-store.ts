import type { Transaction } from 'kysely';
import type { UserId } from '../../shared/index.ts';
import type { Db, Schema } from '../../store/index.ts';
import type { ContactDue, Membership } from './membership.ts';
import { toMembership } from './membership-store.ts';

/** Users whose customer at Stripe lacks an update, the longest untried first. */
export async function contactsDue(db: Db, max: number): Promise<Membership[]> {
  const rows = await db
    .selectFrom('memberships')
    .selectAll()
    .where('contactAt', 'is not', null)
    .orderBy('contactAt')
    .limit(max)
    .execute();
  return rows.map(toMembership);
}

/**
 * The user's data that the customer lacks; null: none. It does not change the version of the membership, because no
 * sync reads or writes it.
 */
export async function setContact(
  db: Db,
  userId: UserId,
  { contact, nowMs }: { contact: ContactDue | null; nowMs: number },
): Promise<void> {
  await db
    .updateTable('memberships')
    .set({ contact: contact && JSON.stringify(contact), contactAt: contact && nowMs, updatedAt: nowMs })
    .where('userId', '=', userId)
    .execute();
}

/** The next charge is read anew with the next sync, because its tax has changed. */
export async function outdateNextCharge(db: Db, { userId, nextCharge }: Membership): Promise<void> {
  if (!nextCharge) return;
  const { basis: _, ...amounts } = nextCharge;
  await db
    .updateTable('memberships')
    .set({ nextCharge: JSON.stringify(amounts) })
    .where('userId', '=', userId)
    .execute();
}

/**
 * Records that the user's name, address or language changes, in the transaction of that change. The minute job writes
 * them to the customer; several changes before that are one.
 */
export async function recordContactChange(trx: Transaction<Schema>, userId: UserId, nowMs: number): Promise<void> {
  const contact: ContactDue = { state: 'due' };
  await trx
    .updateTable('memberships')
    .set({ contact: JSON.stringify(contact), contactAt: nowMs, updatedAt: nowMs })
    .where('userId', '=', userId)
    .where('customerId', 'is not', null)
    .execute();
}
