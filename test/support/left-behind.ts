import { howManyListen } from './http-client.ts';

/**
 * The global state that a test file might change for later files in the same worker: the environment, replaced
 * functions of Node, and listeners of the process.
 */

const functions = {
  fetch: () => globalThis.fetch,
  'listeners to answers': howManyListen,
  'Date.now': () => Date.now,
  'Math.random': () => Math.random,
  setTimeout: () => globalThis.setTimeout,
  'console.log': () => console.log,
  'console.info': () => console.info,
  'console.warn': () => console.warn,
  'console.error': () => console.error,
} as const;

/** Not the signals: a shared browser listens for the end. */
const events = ['warning'] as const;

interface Seen {
  file: string | undefined;
  environment: Record<string, string | undefined>;
  functions: Map<string, unknown>;
  listeners: Map<string, number>;
}

function look(): Seen {
  return {
    file: expect.getState().testPath,
    environment: { ...process.env },
    functions: new Map(Object.entries(functions).map(([name, read]) => [name, read()])),
    listeners: new Map(events.map((event) => [event, process.listenerCount(event)])),
  };
}

/** The state at the start of the previous file. */
let before: Seen | undefined;

/** @throws Error that names the previous file in its worker, if it has not restored everything */
export function expectNothingLeft(): void {
  const now = look();
  const was = before;
  before = now;
  if (!was) return;
  const names = new Set([...Object.keys(was.environment), ...Object.keys(now.environment)]);
  const changed = [
    ...[...names].filter((name) => was.environment[name] !== now.environment[name]).map((name) => `$${name}`),
    ...[...now.functions].filter(([name, value]) => was.functions.get(name) !== value).map(([name]) => name),
    ...[...now.listeners].filter(([event, count]) => (was.listeners.get(event) ?? 0) < count).map(([event]) => event),
  ];
  if (changed.length > 0) throw new Error(`${was.file} has left changed: ${changed.join(', ')}`);
}
