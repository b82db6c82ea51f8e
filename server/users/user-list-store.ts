import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import { type PlanId, toUserId, type UserId } from '../shared/index.ts';
import type { Db, Schema } from '../store/index.ts';
import type { User } from './user.ts';
import { toUser } from './user-store.ts';

/** The users with these ids, in no order; unknown ids are left out. */
export async function findUsers(db: Db, ids: readonly UserId[]): Promise<User[]> {
  if (ids.length === 0) return [];
  return (await db.selectFrom('users').selectAll().where('id', 'in', ids).execute()).map(toUser);
}

interface UserPage {
  limit: number;
  /** The last user of the page before; a number of users to pass over would read each of them again. */
  after?: Pick<User, 'id' | 'createdAt'> | undefined;
}

/** Users by their age, the oldest first. */
export async function listUsers(db: Db, { limit, after }: UserPage): Promise<User[]> {
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .$if(after !== undefined, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('createdAt', 'id'), '>', tuple(after?.createdAt ?? 0, after?.id ?? toUserId(''))),
      ),
    )
    .orderBy('createdAt')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toUser);
}

/**
 * A condition for queries of other modules: the user with this id is not disabled.
 * @param plan the plan that they have; null: none
 */
export function isEnabledUser(
  id: Expression<UserId>,
  { plan }: { plan?: Expression<PlanId | null> | null } = {},
): Expression<SqlBool> {
  const { exists, selectFrom } = expressionBuilder<Schema>();
  const enabled = selectFrom('users')
    .select('users.id')
    .where('users.id', '=', id)
    .where('users.disabledAt', 'is', null);
  if (plan === null) return exists(enabled.where('users.planId', 'is', null));
  return exists(plan ? enabled.where('users.planId', '=', plan) : enabled);
}

/** A condition for queries of other modules: there is no user with this id any more. */
export function isErasedUser(id: Expression<UserId | null>): Expression<SqlBool> {
  const { exists, not, selectFrom } = expressionBuilder<Schema>();
  return not(exists(selectFrom('users').select('users.id').where('users.id', '=', id)));
}
