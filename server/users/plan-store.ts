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
    .set({ plan_id: planId, trial_until: trialUntil, updated_at: nowMs })
    .where('id', '=', userId)
    .where(({ or, eb }) =>
      or([
        planId === null ? eb('plan_id', 'is not', null) : or([eb('plan_id', 'is', null), eb('plan_id', '!=', planId)]),
        trialUntil === null
          ? eb('trial_until', 'is not', null)
          : or([eb('trial_until', 'is', null), eb('trial_until', '!=', trialUntil)]),
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
    .where('users.disabled_at', 'is', null);
  return exists(withoutPlan ? enabled.where('users.plan_id', 'is', null) : enabled);
}
