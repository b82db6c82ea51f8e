/**
 * `npm run check`: lint, types and build, without the tests. `npm run format` (--write) applies the automatic fixes.
 */
import { join } from 'node:path';
import { checks, showFailures } from './lib/checks.mjs';
import { install } from './lib/install.mjs';
import { bin, root, toolEnv } from './lib/paths.mjs';
import { command, start } from './lib/processes.mjs';
import { alone, exitCodeOf } from './lib/ready.mjs';
import { createSay, seconds } from './lib/say.mjs';

await command(async () => {
  const say = createSay();
  await alone(say, () => install(say));
  if (process.argv.includes('--write')) {
    const options = { cwd: root, env: toolEnv(), stdio: /** @type {const} */ ('inherit') };
    return exitCodeOf(start(join(bin, 'biome'), ['check', '--write', '.'], options));
  }
  const steps = await alone(say, checks);
  showFailures(steps);
  for (const { name, ms, error } of steps) say.line(`${error ? 'FAILED' : 'ok    '} ${name} ${seconds(ms)}`);
  return steps.some(({ error }) => error) ? 1 : 0;
});
