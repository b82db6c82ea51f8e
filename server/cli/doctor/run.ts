import { checkAddress } from './address.ts';
import { checkConfiguration } from './configuration.ts';
import { judgeFolder, lookAtFolder } from './data-folder.ts';
import { type Area, type Finding, findingsFor } from './finding.ts';
import { judgeMachine, lookAtMachine } from './machine.ts';
import { checkMessages } from './messages.ts';
import { checkPlans } from './plans.ts';
import { checkFederation } from './providers.ts';
import type { Setup } from './setup.ts';
import { checkDatabase, checkKeyValue } from './stores.ts';

/** A failing check is one more finding, and stops no other. */
async function guarded(area: Area, say: Setup['say'], check: () => Finding[] | Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    return [
      findingsFor(area).warning(`${area}.failed`, {
        seen: `This could not be checked: ${say(error)}`,
        why: 'The check met something that it does not know.',
        todo: 'If the reason does not tell you more, report it as a fault of Foyer.',
      }),
    ];
  }
}

/** All checks of an installation; none of them changes anything. */
export async function examine(setup: Setup): Promise<Finding[]> {
  const { say, unreadable } = setup;
  const database = checkDatabase(setup);
  const keys = database.then(
    (found) => found.keys,
    () => undefined,
  );
  const found = await Promise.all([
    guarded('configuration', say, () => checkConfiguration(setup)),
    guarded('machine', say, () => judgeMachine(lookAtMachine(setup))),
    guarded('data-folder', say, () => (unreadable('DATA_DIR') ? [] : judgeFolder(lookAtFolder(setup)))),
    guarded('database', say, async () => (await database).findings),
    guarded('key-value', say, () => checkKeyValue(setup)),
    guarded('messages', say, () => checkMessages(setup)),
    guarded('plans', say, () => checkPlans(setup)),
    guarded('providers', say, () => checkFederation(setup)),
    guarded('address', say, async () => checkAddress(setup, await keys)),
  ]);
  return found.flat();
}
