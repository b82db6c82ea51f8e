/** The checks that need no running service: lint, types, build. */
import { buildSteps, step } from './build.mjs';

/** @typedef {import('./build.mjs').Step} Step */

/** The checked parts, and their projects. */
const TYPE_CHECKED = {
  production: 'tsconfig.production.json',
  client: 'client/tsconfig.json',
  'the sandbox’s client': 'sandbox/client/tsconfig.json',
  scripts: 'scripts/tsconfig.json',
  examples: 'examples/tsconfig.json',
  test: 'test/tsconfig.json',
};

/** @returns {Promise<Step>} */
export const lint = () =>
  step('lint (biome)', 'biome', ['check', '.', '--error-on-warnings', '--diagnostic-level=warn', '--colors=off']);

/** Types of code that the build does not compile, and of production without the sandbox. @returns {Promise<Step[]>} */
export const types = () =>
  Promise.all(
    Object.entries(TYPE_CHECKED).map(([what, project]) =>
      step(`types of ${what}`, 'tsc', ['-p', project, '--pretty', 'false']),
    ),
  );

/**
 * All of them, in parallel as far as possible. The build needs the lock.
 * @returns {Promise<Step[]>}
 */
export async function checks() {
  const linted = await lint();
  const [built, typed] = await Promise.all([buildSteps(), types()]);
  return [linted, ...built, ...typed];
}

/**
 * Prints the output of failed tools.
 * @param {Step[]} steps
 */
export function showFailures(steps) {
  for (const { error } of steps) if (error) process.stderr.write(`\n${error.message}\n\n`);
}
