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
    .insertInto('trial_claims')
    .values({ kind, value_hash: valueHash, user_id: userId, claimed_at: nowMs })
    .onConflict((conflict) => conflict.columns(['kind', 'value_hash']).doNothing())
    .execute();
  const row = await trx
    .selectFrom('trial_claims')
    .select('user_id')
    .where('kind', '=', kind)
    .where('value_hash', '=', valueHash)
    .executeTakeFirst();
  return row?.user_id === userId;
}
