/** `npm run foyer -- ...`: the operator's command, with its own standard output and exit code. */
import { command } from './lib/processes.mjs';
import { exitCodeOf, makeReady, startNode } from './lib/ready.mjs';
import { createSay } from './lib/say.mjs';

await command(async () => {
  await makeReady(createSay(process.stderr));
  return exitCodeOf(startNode('dist/server/cli/main.js', process.argv.slice(2), { leaderOnly: true }));
});
