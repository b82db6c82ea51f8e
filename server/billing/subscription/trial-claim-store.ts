import type { Transaction } from 'kysely';
import type { UserId } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';

/** One trial per address and per card. @returns whether it is this user's */
export async function claimTrial(
  trx: Transaction<Schema>,
  { kind, valueHash, userId }: { kind: 'email' | 'card'; valueHash: string; userId: UserId },
  nowMs: number,
): Promise<boolean> {
  await trx
    .insertInto('trialClaims')
    .values({ kind, valueHash, userId, claimedAt: nowMs })
    .onConflict((conflict) => conflict.columns(['kind', 'valueHash']).doNothing())
    .execute();
  const row = await trx
    .selectFrom('trialClaims')
    .select('userId')
    .where('kind', '=', kind)
    .where('valueHash', '=', valueHash)
    .executeTakeFirst();
  return row?.userId === userId;
}
