/** The paths in this tree, and the environment for its tools. */
import { delimiter, join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../..');
export const bin = join(root, 'node_modules/.bin');

/** Node 24 from the `node` package: every tool and the server run on it, whatever Node runs this script. */
export const node24 = join(bin, 'node');

/** The lock file that prevents parallel installs and builds in one tree. */
export const lockPath = join(root, 'dist/.foyer-lock');

/**
 * The environment for this tree's tools: its own binaries first on the PATH.
 * @param {NodeJS.ProcessEnv} [extra]
 * @returns {NodeJS.ProcessEnv}
 */
export function toolEnv(extra = {}) {
  return { ...process.env, PATH: [bin, ...pathWithoutBin()].join(delimiter), ...extra };
}

/** The folders of PATH without this tree's binaries (which an install removes while it runs). */
export function pathWithoutBin() {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '' && resolve(folder) !== bin);
}
