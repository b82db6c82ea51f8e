import type { Db, Row } from '../../store/index.ts';

/** `at`: the time of the last event of Stripe that was read. `updatedAt`: when the events were read. */
export const eventsProgress = 'events';
/** `at`: the start of the last comparison. `position`: the last compared user of one that is not finished. */
export const comparisonProgress = 'comparison';
/** `at`: the start of the comparison. `position`: how many differences its parts have left so far. */
export const comparisonLeft = 'comparison left';

/** How far a job has come. */
type Progress = Omit<Row<'billingProgress'>, 'name'>;

export async function findProgress(db: Db, name: string): Promise<Progress | undefined> {
  return db
    .selectFrom('billingProgress')
    .select(['at', 'position', 'updatedAt'])
    .where('name', '=', name)
    .executeTakeFirst();
}

export async function saveProgress(db: Db, name: string, progress: Progress): Promise<void> {
  await db
    .insertInto('billingProgress')
    .values({ name, ...progress })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(progress))
    .execute();
}
