/** `npm run test:faults [-- --seeds N]`: the tests that kill processes, with more seeds than `npm test` has. */
import { parseArgs } from 'node:util';
import { node24, root, toolEnv } from './lib/paths.mjs';
import { checkStopping, command, start } from './lib/processes.mjs';
import { Failure } from './lib/say.mjs';

await command(async () => {
  const { values } = parseArgs({ options: { seeds: { type: 'string', default: '300' } } });
  if (!/^[1-9]\d{0,4}$/.test(values.seeds)) throw new Failure('--seeds: write a whole number from 1 to 99999');
  const env = toolEnv({ FOYER_FAULT_SEEDS: values.seeds });
  const tests = start(node24, ['scripts/test.mjs', 'all', 'test/faults'], { cwd: root, env, stdio: 'inherit' });
  const { code } = await tests.ended;
  checkStopping();
  return code ?? 1;
});
