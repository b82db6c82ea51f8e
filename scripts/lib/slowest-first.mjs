/**
 * The order of the tests: files that take minutes start first, or a run would end with one browser and idle cores. A
 * new machine has no times of earlier runs, and the length of a file says little.
 */
import { statSync } from 'node:fs';

const slow = [
  /every-page/,
  /[\\/]journeys[\\/]workers|[\\/]billing[\\/]act-sweep/,
  /\.browser\.test\./,
  // Files that start one process after the other come after the browsers: in parallel they starve each other.
  /[\\/]journeys[\\/]|guessing|matrix|-processes|basic-op|[\\/]faults[\\/]/,
  /[\\/]attacks[\\/]|[\\/]cli[\\/]/,
];

/** @param {string} path */
const rank = (path) => {
  const found = slow.findIndex((pattern) => pattern.test(path));
  return found === -1 ? slow.length : found;
};

/** @typedef {{ path: string }} Test Jest's data about a file */

export default class SlowestFirst {
  /** @template {Test} T @param {Iterable<T>} tests */
  sort(tests) {
    const known = [...tests].map((test) => ({ test, rank: rank(test.path), size: statSync(test.path).size }));
    return known.toSorted((a, b) => a.rank - b.rank || b.size - a.size).map(({ test }) => test);
  }
  /** @template {Test} T @param {T[]} tests */
  allFailedTests(tests) {
    return tests;
  }
  /** @template {Test} T @param {T[]} tests */
  shard(tests) {
    return tests;
  }
  cacheResults() {}
}
