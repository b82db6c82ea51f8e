/**
 * Child processes that never outlive this one. Each has its own process group, so that its own children (npm's install
 * scripts, compilers, test workers) end with it, and so that Ctrl-C in a terminal reaches it once, through this
 * process, and not twice.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Failure } from './say.mjs';

/**
 * @typedef {import('node:child_process').SpawnOptions & { graceMs?: number, leaderOnly?: boolean, stopSignal?:
 * NodeJS.Signals }} StartOptions `graceMs`: time until it is killed; `leaderOnly`: the stop signal goes only to the
 * process, which ends its own children; `stopSignal`: instead of the received one
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null, output: string }} Ended
 * @typedef {{ pid: number | undefined, ended: Promise<Ended>, output: () => string, stop: (signal?: NodeJS.Signals) =>
 * Promise<void> }} Running
 */

const GRACE_MS = 5_000;
const OUTPUT_KEPT_CHARS = 200_000;
const PARENT_CHECK_EVERY_MS = 1_000;
const SECOND_SIGNAL_MEANS_NOW_AFTER_MS = 1_000;

/** @type {Set<{ stop: Running['stop'], kill: () => void }>} */
const running = new Set();
/** @type {Array<() => void>} */
const cleanUps = [];
/** @type {{ signal: NodeJS.Signals, atMs: number } | undefined} */
let stopping;

/** True once a signal has asked this command to end. */
export const isStopping = () => stopping !== undefined;

/** @throws {Interrupted} once a signal has asked this command to end */
export function checkStopping() {
  if (stopping) throw new Interrupted(stopping.signal);
}

/**
 * Runs when this process ends, however it ends (except by SIGKILL). Must be synchronous.
 * @param {() => void} act
 */
export function onExit(act) {
  cleanUps.unshift(act);
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {StartOptions} [options]
 * @returns {Running}
 */
export function start(command, args, options = {}) {
  checkStopping();
  const { graceMs = GRACE_MS, leaderOnly = false, stopSignal, ...spawnOptions } = options;
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...spawnOptions, detached: true });
  let output = '';
  const keep = (/** @type {Buffer} */ chunk) => {
    output = (output + chunk).slice(-OUTPUT_KEPT_CHARS);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);

  const signalTo = (/** @type {NodeJS.Signals} */ signal, /** @type {boolean} */ group) => {
    if (child.pid === undefined) return;
    try {
      process.kill(group ? -child.pid : child.pid, signal);
    } catch {
      // It has already ended.
    }
  };
  const kill = () => signalTo('SIGKILL', true);
  /** @type {Promise<Ended>} */
  const ended = new Promise((resolve, reject) => {
    child.once('error', (error) => {
      running.delete(entry);
      reject(new Failure(`${command} could not be started: ${error.message}`));
    });
    // The rest of the group would keep the pipes open, so it is killed first.
    child.once('exit', kill);
    child.once('close', (code, signal) => {
      running.delete(entry);
      resolve({ code, signal, output });
    });
  });
  ended.catch(() => {});
  const stop = async (/** @type {NodeJS.Signals} */ signal = 'SIGTERM') => {
    signalTo(stopSignal ?? signal, !leaderOnly);
    const timer = setTimeout(kill, graceMs);
    await ended.catch(() => {});
    clearTimeout(timer);
  };
  const entry = { stop, kill };
  running.add(entry);
  return { pid: child.pid, ended, output: () => output, stop };
}

/**
 * Runs a tool to its end; a failure has the tool's output.
 * @param {string} what for the message
 * @param {string} command
 * @param {string[]} args
 * @param {StartOptions} [options]
 * @returns {Promise<string>} its output
 */
export async function run(what, command, args, options) {
  const { code, signal, output } = await start(command, args, options).ended;
  checkStopping();
  if (code !== 0) throw new Failure(`${what} failed (${signal ?? `exit code ${code}`}):\n${output.trim()}`);
  return output;
}

/** Thrown from the current work when a signal arrives. */
export class Interrupted extends Failure {
  /** @param {NodeJS.Signals} signal */
  constructor(signal) {
    super(`stopped by ${signal}`, 128 + constants.signals[signal]);
  }
}

/**
 * Ends every child: the signal first, SIGKILL after the grace time.
 * @param {NodeJS.Signals} [signal]
 */
export async function stopAll(signal = 'SIGTERM') {
  await Promise.all([...running].map((entry) => entry.stop(signal)));
}

/** @param {NodeJS.Signals} signal */
function onSignal(signal) {
  if (stopping) {
    // npm and the terminal both forward Ctrl-C: only a later one means impatience.
    if (performance.now() - stopping.atMs > SECOND_SIGNAL_MEANS_NOW_AFTER_MS) for (const entry of running) entry.kill();
    return;
  }
  stopping = { signal, atMs: performance.now() };
  void stopAll(signal);
}

/** npm or its shell may be killed without forwarding a signal: then no process would stop this command. */
function watchParent() {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && onSignal('SIGTERM'), PARENT_CHECK_EVERY_MS).unref();
}

/**
 * Runs a command's body: signals stop its children, failures are reported in one message, nothing is left behind.
 * @param {() => Promise<number | void>} body returns the exit code
 */
export async function command(body) {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, onSignal);
  process.on('exit', () => {
    for (const entry of running) entry.kill();
    for (const act of cleanUps) act();
  });
  watchParent();
  let exitCode = 0;
  try {
    exitCode = (await body()) ?? 0;
  } catch (error) {
    exitCode = error instanceof Failure ? error.exitCode : 1;
    const text = error instanceof Failure ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`foyer: ${text}\n`);
  }
  await stopAll();
  process.exit(exitCode);
}
