/**
 * `npm start`: installs the packages of the lock file, builds if a source has changed, and runs the server until it is
 * stopped.
 */
import { serverEntry } from './lib/build.mjs';
import { command } from './lib/processes.mjs';
import { exitCodeOf, makeReady, startNode } from './lib/ready.mjs';
import { createSay, seconds } from './lib/say.mjs';

const SERVER_GRACE_MS = 15_000;

await command(async () => {
  const say = createSay();
  const worked = await makeReady(say);
  say.line(
    worked
      ? 'Starting the server'
      : `Nothing to install, nothing to build (${seconds(performance.now())}): starting the server`,
  );
  const server = startNode(serverEntry(), process.argv.slice(2), {
    graceMs: SERVER_GRACE_MS,
    leaderOnly: true,
  });
  return exitCodeOf(server);
});
