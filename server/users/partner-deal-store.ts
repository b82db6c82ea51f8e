import type { Kysely, Transaction } from 'kysely';
import { isItemIn, type NormalisedEmail, type UserId } from '../shared/index.ts';
import type { Db, Row, Schema } from '../store/index.ts';
import type { User } from './user.ts';

/** A plan that was bought from a partner (the specification's appsumo), found by the buyer's address. */
type PartnerDeal = Pick<Row<'partnerDeals'>, 'email' | 'tier' | 'userId'>;

export const partnerTiers = [1, 2, 3] as const;
export type PartnerTier = PartnerDeal['tier'];
export const isPartnerTier = (tier: number): tier is PartnerTier => isItemIn(partnerTiers, tier);

export async function findPartnerDeal(db: Db, email: NormalisedEmail): Promise<PartnerDeal | undefined> {
  return db
    .selectFrom('partnerDeals')
    .select(['email', 'tier', 'userId'])
    .where('email', '=', email)
    .executeTakeFirst();
}

/** Assigns the deal to the user, unless it is already claimed. Returns the claimed deal. */
export async function claimPartnerDeal(
  trx: Transaction<Schema>,
  email: NormalisedEmail,
  { userId, nowMs }: { userId: UserId; nowMs: number },
): Promise<PartnerDeal | undefined> {
  const { numUpdatedRows } = await trx
    .updateTable('partnerDeals')
    .set({ userId, usedAt: nowMs })
    .where('email', '=', email)
    .where('userId', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? findPartnerDeal(trx, email) : undefined;
}

/**
 * Adds deals, and changes the tier of unclaimed ones; a claimed deal stays unchanged.
 * @param deals each address once
 */
export async function importPartnerDeals(
  trx: Transaction<Schema>,
  deals: readonly { email: NormalisedEmail; tier: PartnerTier }[],
  nowMs: number,
): Promise<{ added: number; changed: number; kept: number }> {
  const counts = { added: 0, changed: 0, kept: 0 };
  for (const { email, tier } of deals) {
    const known = await findPartnerDeal(trx, email);
    if (!known) {
      await trx.insertInto('partnerDeals').values({ email, tier, importedAt: nowMs }).execute();
      counts.added += 1;
    } else if (known.userId === null && known.tier !== tier) {
      await trx.updateTable('partnerDeals').set({ tier, importedAt: nowMs }).where('email', '=', email).execute();
      counts.changed += 1;
    } else counts.kept += 1;
  }
  return counts;
}

const postponedMs = 7 * 24 * 60 * 60_000;

/** The user declines the partner's plan for now: they are asked again in a week. @returns when */
export async function postponePartnerDeal(db: Kysely<Schema>, userId: UserId, nowMs: number): Promise<number> {
  const againAt = nowMs + postponedMs;
  await db.updateTable('users').set({ dealAgainAt: againAt, updatedAt: nowMs }).where('id', '=', userId).execute();
  return againAt;
}

export const isDealPostponed = ({ dealAgainAt }: Pick<User, 'dealAgainAt'>, nowMs: number): boolean =>
  dealAgainAt !== null && nowMs < dealAgainAt;
