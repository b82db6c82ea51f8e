import { defineConfig } from 'vitest/config';
import SlowestFirst from './scripts/lib/slowest-first.mjs';

const without = (process.env.FOYER_TEST_WITHOUT ?? '').split(',').map((name) => name.trim());

/** TypeScript is transformed only; type errors are found by `tsc` in the same `npm test`. */
export default defineConfig({
  // Not `development`, which is the bundler's own choice outside of a build: React is as it is shipped (test/support/setup.ts).
  oxc: { jsx: { runtime: 'automatic', development: false } },
  // As Node itself chooses: a package that our code and another package import must be one.
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    // What a run leaves out on purpose; the summary of `npm test` says so.
    exclude: ['**/node_modules/**', ...(without.includes('browser') ? ['**/*.browser.test.{ts,tsx}'] : [])],
    globals: true,
    setupFiles: ['test/support/setup.ts'],
    // Files of one worker share its modules: to load them anew for each of hundreds of files would cost more than most tests.
    pool: 'forks',
    isolate: false,
    // Most of what a test makes is gone after it: with room for that, the collector copies less of it about.
    execArgv: ['--max-semi-space-size=64'],
    // One more than the cores of a small machine: many tests wait, for a browser, a process or a service.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    sequence: { sequencer: SlowestFirst, hooks: 'list' },
  },
});
