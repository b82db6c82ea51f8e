/**
 * `npm run test:quick FILE…`: these test files at once, on SQLite and the embedded store: no checks, no build, no services,
 * no browser.
 */
import { jestArguments } from './lib/jest.mjs';
import { PARTS } from './lib/parts.mjs';
import { node24, root, toolEnv } from './lib/paths.mjs';
import { command, start } from './lib/processes.mjs';
import { exitCodeOf } from './lib/ready.mjs';
import { Failure } from './lib/say.mjs';

await command(() => {
  const args = process.argv.slice(2);
  if (args.length === 0) throw new Failure('Name test files: npm run test:quick FILE…');
  const without = Object.keys(PARTS).filter((name) => name !== 'stripe-reference');
  const env = toolEnv({ FOYER_TEST: 'all', FOYER_TEST_WITHOUT: without.join(',') });
  return exitCodeOf(start(node24, jestArguments(args), { cwd: root, env, stdio: 'inherit' }));
});
