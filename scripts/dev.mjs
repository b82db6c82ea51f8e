/**
 * `npm run dev`: builds on every change and restarts the server. It polls the sources itself: the times of a few
 * hundred files take milliseconds and miss nothing, and the build is the same one that `npm start` uses.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { serverEntry, sourceStamp } from './lib/build.mjs';
import { command, isStopping } from './lib/processes.mjs';
import { exitCodeOf, makeReady, startNode } from './lib/ready.mjs';
import { createSay, Failure } from './lib/say.mjs';
import { sameContent } from './lib/stamp.mjs';

const LOOK_EVERY_MS = 300;

const say = createSay();
/** @type {import('./lib/processes.mjs').Running | undefined} */
let server;

/** Ends the running server and starts one from the new build. */
async function restart() {
  const old = server;
  server = undefined;
  await old?.stop();
  if (isStopping()) return;
  const started = startNode(serverEntry(), process.argv.slice(2), { leaderOnly: true });
  server = started;
  void exitCodeOf(started).then((code) => {
    if (server === started && !isStopping()) say.line(`The server ended (exit code ${code}): waiting for a change`);
  });
}

/** A fault in a source is reported, and the last good server keeps running. */
async function rebuild() {
  try {
    await makeReady(say);
    await restart();
  } catch (error) {
    if (!(error instanceof Failure) || isStopping()) throw error;
    say.line(error.message);
  }
}

/** @param {import('./lib/stamp.mjs').Stamp} before */
function look(before) {
  try {
    return sourceStamp(before);
  } catch {
    // A file was deleted between listing and reading.
    return before;
  }
}

await command(async () => {
  let seen = sourceStamp();
  await rebuild();
  say.line('Watching for changes');
  while (!isStopping()) {
    await sleep(LOOK_EVERY_MS);
    const now = look(seen);
    const changed = !sameContent(now, seen);
    seen = now;
    if (changed) await rebuild();
  }
  return 130;
});
