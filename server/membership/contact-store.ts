import type { UserId } from '../shared/index.ts';
import type { Db } from '../store/index.ts';
import type { ContactDue, Membership } from './membership.ts';
import { toMembership } from './membership-store.ts';

/** Members of whom their customer at Stripe is still to be told something, the longest untried first. */
export async function contactsDue(db: Db, max: number): Promise<Membership[]> {
  const rows = await db
    .selectFrom('memberships')
    .selectAll()
    .where('contact_at', 'is not', null)
    .orderBy('contact_at')
    .limit(max)
    .execute();
  return rows.map(toMembership);
}

/**
 * The data of the member that the customer does not have yet; null: nothing. It does not count as another version of the
 * membership: no sync reads or writes it.
 */
export async function setContact(db: Db, userId: UserId, contact: ContactDue | null, nowMs: number): Promise<void> {
  await db
    .updateTable('memberships')
    .set({ contact: contact && JSON.stringify(contact), contact_at: contact && nowMs, updated_at: nowMs })
    .where('user_id', '=', userId)
    .execute();
}
