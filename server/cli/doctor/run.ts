import { checkAddress } from './address.ts';
import { checkConfiguration, judgeFolder, judgeMachine } from './checks-host.ts';
import { judgeFailure } from './checks-services.ts';
import { readFolder } from './data-folder.ts';
import { checkDatabase } from './database.ts';
import type { Area, Finding } from './finding.ts';
import { checkKeyValue } from './key-value.ts';
import { checkListening } from './listening.ts';
import { readMachine } from './machine.ts';
import { checkMessages } from './messages.ts';
import { checkOutgoing } from './outgoing.ts';
import { checkPlans } from './plans.ts';
import { checkFederation } from './providers.ts';
import type { Setup } from './setup.ts';

/** All checks of an installation; none of them changes anything. */
export async function examine(setup: Setup): Promise<Finding[]> {
  const database = checkDatabase(setup);
  const keys = database.then(
    (found) => found.keys,
    () => undefined,
  );
  const sources: [Area, () => Finding[] | Promise<Finding[]>][] = [
    ['configuration', () => checkConfiguration(setup)],
    ['configuration', () => checkListening(setup)],
    ['machine', () => judgeMachine(readMachine(setup))],
    ['data-folder', () => (setup.unreadable('DATA_DIR') ? [] : judgeFolder(readFolder(setup)))],
    ['database', async () => (await database).findings],
    ['key-value', () => checkKeyValue(setup)],
    ['outgoing', () => checkOutgoing(setup)],
    ['messages', () => checkMessages(setup)],
    ['plans', () => checkPlans(setup)],
    ['providers', () => checkFederation(setup)],
    ['address', async () => checkAddress(setup, await keys)],
  ];
  const found = sources.map(async ([area, check]) => {
    try {
      return await check();
    } catch (error) {
      // A failing check is one more finding, and stops no other.
      return judgeFailure(area, setup.say(error));
    }
  });
  return (await Promise.all(found)).flat();
}
