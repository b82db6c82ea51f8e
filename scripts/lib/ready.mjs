/** Installs and builds: every command needs this first. */
import { availableParallelism, constants } from 'node:os';
import { join } from 'node:path';
import { build, isBuilt } from './build.mjs';
import { install, isInstalled } from './install.mjs';
import { withLock } from './lock.mjs';
import { lockPath, node24, root, toolEnv } from './paths.mjs';
import { start } from './processes.mjs';

/** @typedef {import('./say.mjs').Say} Say */

/**
 * @template T
 * @param {Say} say
 * @param {() => Promise<T>} act
 * @returns {Promise<T>}
 */
export const alone = (say, act) =>
  withLock(lockPath, (pid) => say.line(`Waiting for another command in this folder (process ${pid}) ...`), act);

/**
 * @param {Say} say
 * @param {() => boolean} [isEnough] whether the present build serves
 * @returns {Promise<boolean>} whether there was anything to do
 */
export async function makeReady(say, isEnough = isBuilt) {
  if (isInstalled() && isEnough()) return false;
  await alone(say, async () => {
    await install(say);
    await build(say);
  });
  return true;
}

/**
 * Settings of Node itself. Password hashing runs in the thread pool: as many threads as cores give the full rate, and
 * more only slow other requests down. Without limits the heap grows to several times of its live size before a
 * collection; the caller's NODE_OPTIONS come last and win. Compiled code is kept for the next start.
 * @param {NodeJS.ProcessEnv} [env] the caller's
 */
export function nodeSettings(env = process.env) {
  return {
    UV_THREADPOOL_SIZE: env.UV_THREADPOOL_SIZE ?? String(availableParallelism()),
    NODE_OPTIONS: ['--max-old-space-size=384 --max-semi-space-size=8', env.NODE_OPTIONS].filter(Boolean).join(' '),
    NODE_COMPILE_CACHE: env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'compiled'),
  };
}

/**
 * Starts a built entry with Node 24.
 * @param {string} entry relative to the project
 * @param {string[]} args
 * @param {import('./processes.mjs').StartOptions} [options]
 */
export function startNode(entry, args, options = {}) {
  const env = toolEnv(nodeSettings());
  return start(node24, [join(root, entry), ...args], { cwd: root, env, stdio: 'inherit', ...options });
}

/**
 * The exit code with which a shell reports the end of a process.
 * @param {import('./processes.mjs').Running} running
 */
export async function exitCodeOf(running) {
  const { code, signal } = await running.ended;
  return code ?? 128 + (signal ? constants.signals[signal] : 0);
}
