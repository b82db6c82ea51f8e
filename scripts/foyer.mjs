/** `npm run foyer -- ...`: the operator's command, with its own standard output and exit code. */
import { isProductBuilt } from './lib/build.mjs';
import { command } from './lib/processes.mjs';
import { exitCodeOf, makeReady, startNode } from './lib/ready.mjs';
import { createSay } from './lib/say.mjs';

await command(async () => {
  // The build that a running server uses is not replaced only because the sandbox is in it, or is not.
  await makeReady(createSay(process.stderr), isProductBuilt);
  return exitCodeOf(startNode('dist/server/cli/main.js', process.argv.slice(2), { leaderOnly: true }));
});
