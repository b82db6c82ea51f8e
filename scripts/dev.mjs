/** `npm run dev`: compiles on every change and restarts the server when what it runs on has changed. */
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { forgetBuild, SERVER_ROOMS } from './lib/build.mjs';
import { install } from './lib/install.mjs';
import { bin, root, toolEnv } from './lib/paths.mjs';
import { command, isStopping, start } from './lib/processes.mjs';
import { alone, makeReady, startNode } from './lib/ready.mjs';
import { createSay, Failure } from './lib/say.mjs';

const QUIET_FOR_MS = 250;
const ENTRY = 'dist/server/main.js';

const say = createSay();
const dist = join(root, 'dist');
/** @type {import('./lib/processes.mjs').Running | undefined} */
let server;
/** @type {Promise<void>} */
let turn = Promise.resolve();

/** Ends the server that runs and starts the next: one after the other, however fast the changes come. */
async function restart() {
  await server?.stop();
  server = undefined;
  if (isStopping() || !existsSync(join(root, ENTRY))) return;
  say.line('Starting the server');
  const started = startNode(ENTRY, [], { leaderOnly: true });
  server = started;
  const { code } = await Promise.race([started.ended, new Promise((resolve) => setImmediate(resolve, {}))]);
  if (code) say.line(`The server ended with exit code ${code}: waiting for a change`);
}

/** @param {string} path relative to dist */
function matters(path) {
  const [top = ''] = path.split('/');
  return path === 'client/manifest.json' || (SERVER_ROOMS.includes(top) && !path.endsWith('.map'));
}

function watchOutput() {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  watch(dist, { recursive: true }, (_event, path) => {
    if (!path || !matters(path)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      turn = turn.then(restart);
    }, QUIET_FOR_MS);
  });
}

await command(async () => {
  try {
    await makeReady(say);
  } catch (error) {
    if (!(error instanceof Failure) || isStopping()) throw error;
    // A mistake in a source is what one fixes while watching.
    say.line(error.message);
    await alone(say, () => install(say));
  }
  forgetBuild();
  const options = { cwd: root, env: toolEnv(), stdio: /** @type {const} */ ('inherit') };
  const compilers = [
    start(join(bin, 'tsc'), ['-p', 'tsconfig.json', '--watch', '--preserveWatchOutput'], options),
    start(join(bin, 'vite'), ['build', '--watch', '--logLevel', 'warn'], options),
  ];
  watchOutput();
  turn = turn.then(restart);
  await Promise.race(compilers.map(({ ended }) => ended));
  if (!isStopping()) throw new Failure('a compiler ended: see above');
  return 130;
});
