/** Apart from test-selection.mjs, which needs Node 24: the scripts start with an older Node as well. */
import { Failure } from './say.mjs';

/** @typedef {'fast' | 'all'} Speed */

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Speed}
 * @throws {Failure} for another word
 */
export function readSpeed(env) {
  const speed = env.FOYER_TEST || 'all';
  if (speed === 'fast' || speed === 'all') return speed;
  throw new Failure(`FOYER_TEST is "${speed}". Write fast or all`);
}
