import type { UserId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { type BillingTask, listDueCustomers, listTasks } from './task-store.ts';
import { runEach } from './tasks.ts';

const batch = 50;

/** After an import, the next batch follows at once for this long: by the machine's clock, below the lease of the job. */
const customersMs = 30_000;

/** Creates the customers of new members; failures are tried again later. */
export async function createCustomers(deps: BillingDeps): Promise<void> {
  const until = Date.now() + customersMs;
  let due: BillingTask[];
  do {
    due = await listDueCustomers(deps.database.db, deps.now(), batch);
    await runEach(deps, due);
  } while (due.length === batch && Date.now() < until);
}

/** The same for one member, right after the transaction with the task. */
export async function createCustomerAtOnce(deps: BillingDeps, userId: UserId): Promise<void> {
  const tasks = await listTasks(deps.database.db, userId);
  await runEach(
    deps,
    tasks.filter(({ kind }) => kind === 'ensure-customer'),
  );
}
