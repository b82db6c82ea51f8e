const without = (process.env.FOYER_TEST_WITHOUT ?? '').split(',').map((name) => name.trim());

/** Jest in ESM mode; TypeScript is transformed by swc, type errors are found by `tsc` in the same `npm test`. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts', '**/*.test.tsx'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '^.+\\.tsx?$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', tsx: true, importAttributes: true },
          transform: { react: { runtime: 'automatic' } },
          target: 'es2024',
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
        // Into a file of its own. Within the code, and longer than that, it would be read again with each module of each test file.
        sourceMaps: true,
      },
    ],
  },
  // As it is shipped, and as fast: React's other half draws every page several times as slowly, for warnings that no test reads.
  moduleNameMapper: {
    '^\\./cjs/(react|react-jsx-runtime)\\.development\\.js$': '<rootDir>/node_modules/react/cjs/$1.production.js',
    '^\\./cjs/(react-dom[\\w.-]*)\\.development\\.js$': '<rootDir>/node_modules/react-dom/cjs/$1.production.js',
  },
  testTimeout: 30_000,
  testSequencer: '<rootDir>/scripts/lib/slowest-first.mjs',
  // What a run leaves out on purpose; the summary of `npm test` says so.
  testPathIgnorePatterns: ['/node_modules/', ...(without.includes('browser') ? ['\\.browser\\.test\\.tsx?$'] : [])],
};
