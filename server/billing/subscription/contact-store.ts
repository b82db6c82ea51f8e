import type { UserId } from '../../shared/index.ts';
import type { Db } from '../../store/index.ts';
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
