/** `npm run fuzz [-- --requests N --seed N]`: more hostile requests than `npm test` has time for. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { node24, root, toolEnv } from './lib/paths.mjs';
import { checkStopping, command, start } from './lib/processes.mjs';
import { Failure } from './lib/say.mjs';

await command(async () => {
  const { values } = parseArgs({
    options: { requests: { type: 'string', default: '1000000' }, seed: { type: 'string' } },
  });
  const seed = values.seed ?? String(randomInt(2 ** 32));
  for (const [name, value] of Object.entries({ requests: values.requests, seed })) {
    if (!/^\d{1,10}$/.test(value)) throw new Failure(`--${name}: write a whole number`);
  }
  const env = toolEnv({ FUZZ_REQUESTS: values.requests, FUZZ_SEED: seed });
  const tests = start(node24, ['scripts/test.mjs', 'all', 'test/fuzz'], { cwd: root, env, stdio: 'inherit' });
  const { code } = await tests.ended;
  checkStopping();
  return code ?? 1;
});
