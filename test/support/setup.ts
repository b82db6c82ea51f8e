import { expectNothingLeft } from './left-behind.ts';
import { chooseBackends } from './stores.ts';
import { limitTests } from './test-limits.ts';

/** Runs once in each worker, before its first test file. The files of a worker share modules and their state. */

// React's production build, as it is shipped: the development build renders every page several times as slowly, for
// warnings that no test reads.
const { NODE_ENV } = process.env;
process.env.NODE_ENV = 'production';
await Promise.all([import('react/jsx-runtime'), import('react-dom/server')]);
process.env.NODE_ENV = NODE_ENV;

limitTests();

// The runner sets the path of each file before it loads the file. It has no other hook for this.
const { setState } = expect;
expect.setState = (state) => {
  setState(state);
  if (!('testPath' in state) || typeof state.testPath !== 'string') return;
  expectNothingLeft();
  chooseBackends(state.testPath);
};
