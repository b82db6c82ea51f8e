import { takeStripeFaults } from './stripe-faults.ts';

/**
 * jest-light-runner has no time limits. Without them a test that waits forever would stop the whole run, and nothing would
 * name it. Here each test and each hook gets a limit. It also fails for requests that Stripe's description forbids, and for
 * rejected promises that nothing handles: these would end the worker, with the results of the whole file.
 */

const defaultMs = 30_000;
/**
 * Limits end what hangs, and never decide whether a test is fast enough: a machine with one core, or with others at work on
 * it, needs several times as long as the limits that tests name.
 */
const factor = Number(process.env.FOYER_TEST_TIME_FACTOR || 4);
/** Tests replace the global functions. */
const { setTimeout, clearTimeout } = globalThis;

const unhandled: { cause: unknown }[] = [];

type Body = (...values: unknown[]) => unknown;
type Define = (name: string, body: () => Promise<void>) => void;

/** Without declared parameters: Jest would pass a callback for a missing one. */
function limited(name: string, body: Body, limitMs = defaultMs): (...values: unknown[]) => Promise<void> {
  return async (...values) => {
    const { promise: expired, reject } = Promise.withResolvers<never>();
    const allowedMs = limitMs * factor;
    const timer = setTimeout(() => reject(new Error(`${name} has not ended within ${allowedMs} ms`)), allowedMs);
    try {
      await Promise.race([body(...values), expired]);
    } finally {
      clearTimeout(timer);
    }
    const faults = takeStripeFaults();
    if (faults.length > 0) throw new Error(`not as Stripe’s API is described:\n${faults.join('\n')}`);
    const [reason] = unhandled.splice(0);
    if (reason) throw new Error('a promise was rejected and nothing handled it, in this test or before it', reason);
  };
}

/** Replaces Jest's global `it` and hooks by versions with limits. */
export function limitTests(): void {
  process.on('unhandledRejection', (cause) => unhandled.push({ cause }));
  const { it } = globalThis;
  const define: Define = it;
  const each: (table: readonly unknown[]) => Define = it.each;
  const limitedIt = Object.assign(
    (name: string, body: Body, limitMs?: number) => define(name, limited('the test', body, limitMs)),
    it,
    {
      each: (table: readonly unknown[]) => (name: string, body: Body, limitMs?: number) =>
        each(table)(name, limited('the test', body, limitMs)),
    },
  );
  const hooks = Object.fromEntries(
    (['beforeAll', 'beforeEach', 'afterEach', 'afterAll'] as const).map((hook) => {
      const defineHook = globalThis[hook];
      return [hook, (body: Body, limitMs?: number) => defineHook(limited(hook, body, limitMs))];
    }),
  );
  Object.assign(globalThis, { it: limitedIt, test: limitedIt }, hooks);
}
