/** `npm run bench [-- arguments]`: builds, then runs the load tests against what was built. */
import { command } from './lib/processes.mjs';
import { exitCodeOf, makeReady, startNode } from './lib/ready.mjs';
import { createSay } from './lib/say.mjs';

await command(async () => {
  await makeReady(createSay(process.stderr));
  return exitCodeOf(startNode('test/load/main.ts', process.argv.slice(2)));
});
