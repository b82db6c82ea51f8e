/**
 * `npm run bench [-- arguments]`: builds, then runs the load tests against the build; `npm run bench workers` those of
 * several processes; `npm run bench soak [-- HOURS ADDRESSES]` measures the data that visitors at all of their limits
 * leave in the stores.
 */
import { command } from './lib/processes.mjs';
import { exitCodeOf, makeReady, startNode } from './lib/ready.mjs';
import { createSay } from './lib/say.mjs';

await command(async () => {
  await makeReady(createSay(process.stderr));
  const [first, ...rest] = process.argv.slice(2);
  if (first === 'soak') return soakOf(rest);
  if (first === 'workers') return exitCodeOf(startNode('test/load/workers.ts', rest));
  return exitCodeOf(startNode('test/load/main.ts', process.argv.slice(2)));
});

/**
 * The same test as in `npm test`, but longer: it moves the clock, so a day takes half an hour.
 * @param {string[]} args HOURS and ADDRESSES
 */
function soakOf([hours = '24', addresses = '1']) {
  process.env.FOYER_SOAK_HOURS = hours;
  process.env.FOYER_SOAK_ADDRESSES = addresses;
  return exitCodeOf(startNode('node_modules/jest/bin/jest.js', ['test/load/soak.test.ts']));
}
