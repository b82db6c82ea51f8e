import { availableParallelism } from 'node:os';
import { excludedFiles } from './scripts/lib/test-selection.mjs';

/** TypeScript is transformed only; type errors are found by `tsc` in the same `npm test`. */
export default {
  // Runs native modules, which the files of one worker share: to load them for each of hundreds of files costs more than most tests.
  runner: '<rootDir>/scripts/lib/test-runner.mjs',
  transform: {},
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.{ts,tsx}'],
  testPathIgnorePatterns: ['/node_modules/', ...excludedFiles(process.env)],
  setupFiles: ['<rootDir>/test/support/load-tsx.ts'],
  setupFilesAfterEnv: ['<rootDir>/test/support/setup.ts'],
  testSequencer: '<rootDir>/scripts/lib/slowest-first.mjs',
  // One more than there are cores, because many tests wait for a browser, a process or a service.
  maxWorkers: Math.min(availableParallelism(), 2) + 1,
  watchman: false,
};
