import { expectNothingLeft } from './left-behind.ts';
import { takeStripeFaults } from './stripe-faults.ts';

/** Runs before each test file. The files of a worker share everything else: modules, and what those keep. */

// As it is shipped, and as fast: React's other half draws every page several times as slowly, for warnings that no test reads.
const { NODE_ENV } = process.env;
process.env.NODE_ENV = 'production';
await Promise.all([import('react/jsx-runtime'), import('react-dom/server')]);
process.env.NODE_ENV = NODE_ENV;

expectNothingLeft();

afterEach(() => {
  const seen = takeStripeFaults();
  if (seen.length > 0) throw new Error(`not as Stripe’s API is described:\n${seen.join('\n')}`);
});
