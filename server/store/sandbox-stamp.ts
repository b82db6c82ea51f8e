import type { Database } from './database.ts';

const stampName = 'sandbox';

/** Marks a database that a sandbox has worked on: its members and clients have known passwords and addresses. */
export async function stampSandbox(database: Database, nowMs: number): Promise<void> {
  await database.db
    .insertInto('meta')
    .values({ name: stampName, value: String(nowMs) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

/** Whether a sandbox has ever worked on this database: production refuses such a one (`security.md`, rule 16). */
export async function isStamped(database: Database): Promise<boolean> {
  return (
    (await database.db.selectFrom('meta').select('name').where('name', '=', stampName).executeTakeFirst()) !== undefined
  );
}
