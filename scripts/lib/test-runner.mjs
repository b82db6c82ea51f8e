// @ts-expect-error The package has no types.
import ChildProcessRunner from 'jest-light-runner/child-process';
import Tinypool from 'tinypool';

/**
 * The runner of the tests: jest-light-runner 0.8.2 with a channel for each process. There one channel serves all processes,
 * and the first that asks for the settings answers the others too. One that does not listen yet misses the answer, gets no
 * other, and the run waits for it for ever.
 */

/**
 * @typedef {object} Channel between the pool and one process
 * @property {(listener: (message: unknown) => void) => void} onMessage
 * @property {(message: unknown) => void} postMessage
 */

/**
 * A channel for one process: the shared one answers those that listen, so a process listens only while it asks.
 * @param {Channel} shared
 * @returns {Channel}
 */
export function separateChannel(shared) {
  /** @type {((message: unknown) => void) | undefined} */
  let send;
  return {
    onMessage(listener) {
      send = listener;
    },
    postMessage(message) {
      if (send) shared.onMessage(send);
      shared.postMessage(message);
    },
  };
}

const { run } = Tinypool.prototype;
/** @type {typeof run} */
Tinypool.prototype.run = function (task, options) {
  const channel = /** @type {Channel | undefined} */ (options?.channel);
  return run.call(this, task, channel ? { ...options, channel: separateChannel(channel) } : options);
};

export default ChildProcessRunner;
