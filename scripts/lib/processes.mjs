/** Child processes that end with this one. */
import { spawn } from 'node:child_process';
import { availableParallelism, constants } from 'node:os';
import { delimiter, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** Longer than the server takes to finish its answers. */
const GRACE_MS = 15_000;
const PARENT_CHECK_EVERY_MS = 1_000;

/** A failure whose message is sufficient: no stack trace is shown. */
export class Failure extends Error {
  /**
   * @param {string} message
   * @param {number} [exitCode]
   */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Settings of Node for programs of the product. Password hashing runs in the thread pool: as many threads as cores give
 * the full rate, and more only slow other requests down. The bounds of the heap are those of docs/decisions/0007; the
 * caller's NODE_OPTIONS come last and win. glibc has two heaps, and returns what is free at their ends; by itself it has
 * eight for each core, and keeps twice the size of the largest file that was read. Compiled code is kept for the next start.
 * @param {NodeJS.ProcessEnv} [env] the caller's
 */
export function nodeSettings(env = process.env) {
  return {
    UV_THREADPOOL_SIZE: env.UV_THREADPOOL_SIZE ?? String(availableParallelism()),
    NODE_OPTIONS: ['--max-old-space-size=384 --max-semi-space-size=8', env.NODE_OPTIONS].filter(Boolean).join(' '),
    MALLOC_ARENA_MAX: env.MALLOC_ARENA_MAX ?? '2',
    MALLOC_TRIM_THRESHOLD_: env.MALLOC_TRIM_THRESHOLD_ ?? '262144',
    MALLOC_MMAP_THRESHOLD_: env.MALLOC_MMAP_THRESHOLD_ ?? '262144',
    NODE_COMPILE_CACHE: env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'compiled'),
  };
}

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
let stopping = false;

/** Ends a program and everything that it has started. @param {import('node:child_process').ChildProcess} child */
function killGroup({ pid }) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

/**
 * Runs a program, or a tool in node_modules/.bin. It has a session of its own: so Ctrl-C in a terminal reaches it once,
 * through this process; its own children end with it; and Linux gives each session its share of the processor
 * (autogroups, sched(7)), so that tests do not starve the database.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<number>} its exit code, as a shell reports it; the promise stays open when a signal ends this process
 */
export function run(command, args, options = {}) {
  const PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH, ...options.env };
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options, env, detached: true });
  running.add(child);
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      running.delete(child);
      reject(new Failure(`${command} could not be started: ${error.message}`));
    });
    child.once('exit', (code, signal) => {
      killGroup(child);
      running.delete(child);
      const exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
      if (!stopping) resolve(exitCode);
      else if (running.size === 0) process.exit(exitCode);
    });
  });
}

/**
 * Runs a tool whose output is for people: standard output may belong to the command itself.
 * @param {string} tool
 * @param {string[]} args
 * @throws {Failure} if it fails
 */
export async function runTool(tool, args) {
  const code = await run(tool, args, { stdio: ['ignore', 2, 2] });
  if (code !== 0) throw new Failure(`${[tool, ...args].join(' ')} failed (exit code ${code})`);
}

/** @param {NodeJS.Signals} signal */
function stop(signal) {
  if (stopping) return;
  stopping = true;
  const exitCode = 128 + constants.signals[signal];
  if (running.size === 0) process.exit(exitCode);
  for (const child of running) child.kill(signal);
  setTimeout(() => process.exit(exitCode), GRACE_MS);
}

/**
 * Runs the body of a command: signals end its children, and nothing outlives it.
 * @param {() => Promise<number | void>} body returns the exit code
 */
export async function command(body) {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, stop);
  process.on('exit', () => running.forEach(killGroup));
  if (process.env.npm_lifecycle_event) {
    // npm may be killed without passing a signal on.
    const npm = process.ppid;
    setInterval(() => process.ppid !== npm && stop('SIGTERM'), PARENT_CHECK_EVERY_MS).unref();
  }
  try {
    process.exit((await body()) ?? 0);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    console.error(`foyer: ${error.message}`);
    process.exit(error.exitCode);
  }
}
