/**
 * `npm run bench [-- arguments]`: builds, then runs the load tests against what was built; `npm run bench workers` those of
 * several processes.
 */
import { command } from './lib/processes.mjs';
import { exitCodeOf, makeReady, startNode } from './lib/ready.mjs';
import { createSay } from './lib/say.mjs';

await command(async () => {
  await makeReady(createSay(process.stderr));
  const [first, ...rest] = process.argv.slice(2);
  if (first === 'workers') return exitCodeOf(startNode('test/load/workers.ts', rest));
  return exitCodeOf(startNode('test/load/main.ts', process.argv.slice(2)));
});
