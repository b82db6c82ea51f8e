import { type Expression, expressionBuilder, type SqlBool, type Transaction } from 'kysely';
import type { PlanId, UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';

/** Sets a user's plan, which billing/ decides. @returns whether it changed */
export async function setUserPlan(
  trx: Transaction<Schema>,
  { userId, planId, trialUntil }: { userId: UserId; planId: PlanId | null; trialUntil: number | null },
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set({ planId, trialUntil, updatedAt: nowMs })
    .where('id', '=', userId)
    .where(({ or, eb }) =>
      or([
        planId === null ? eb('planId', 'is not', null) : or([eb('planId', 'is', null), eb('planId', '!=', planId)]),
        trialUntil === null
          ? eb('trialUntil', 'is not', null)
          : or([eb('trialUntil', 'is', null), eb('trialUntil', '!=', trialUntil)]),
      ]),
    )
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** A condition for queries of other modules: the user with this id is not disabled, and perhaps has no plan either. */
export function isEnabledUser(id: Expression<UserId>, { withoutPlan = false } = {}): Expression<SqlBool> {
  const { exists, selectFrom } = expressionBuilder<Schema>();
  const enabled = selectFrom('users')
    .select('users.id')
    .where('users.id', '=', id)
    .where('users.disabledAt', 'is', null);
  return exists(withoutPlan ? enabled.where('users.planId', 'is', null) : enabled);
}
