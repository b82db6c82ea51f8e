/** The checks that need no running service: lint, types, build. */
import { buildSteps, step } from './build.mjs';

/** @typedef {import('./build.mjs').Step} Step */

const TYPE_CHECKED = ['client', 'scripts', 'examples', 'test'];

/** @returns {Promise<Step>} */
export const lint = () =>
  step('lint (biome)', 'biome', ['check', '.', '--error-on-warnings', '--diagnostic-level=warn', '--colors=off']);

/** Types of what the build does not compile. @returns {Promise<Step[]>} */
export const types = () =>
  Promise.all(
    TYPE_CHECKED.map((room) => step(`types of ${room}`, 'tsc', ['-p', `${room}/tsconfig.json`, '--pretty', 'false'])),
  );

/**
 * All of them, as far as they can side by side. The build needs the lock.
 * @returns {Promise<Step[]>}
 */
export async function checks() {
  const linted = await lint();
  const [built, typed] = await Promise.all([buildSteps(), types()]);
  return [linted, ...built, ...typed];
}

/**
 * Tells the reader what the tools said.
 * @param {Step[]} steps
 */
export function showFailures(steps) {
  for (const { error } of steps) if (error) process.stderr.write(`\n${error.message}\n\n`);
}
