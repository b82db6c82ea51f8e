/** Short lines for people. */

/** A failure whose message is sufficient: no stack trace is shown. */
export class Failure extends Error {
  /**
   * @param {string} message
   * @param {number} [exitCode]
   */
  constructor(message, exitCode = 1) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}

/** @typedef {{ line(text: string): void, step<T>(doing: string, act: () => Promise<T>): Promise<T> }} Say */

const REMIND_EVERY_MS = 15_000;

/** @param {number} ms */
export function seconds(ms) {
  return `${(ms / 1000).toFixed(ms < 100 ? 2 : 1)} s`;
}

/**
 * @param {{ write(text: string): unknown }} [out] standard output, or standard error if the former belongs to the
 * command
 * @returns {Say}
 */
export function createSay(out = process.stdout) {
  const line = (/** @type {string} */ text) => void out.write(`foyer: ${text}\n`);
  return {
    line,
    async step(doing, act) {
      line(`${doing} ...`);
      const beganMs = performance.now();
      const elapsed = () => seconds(performance.now() - beganMs);
      const reminder = setInterval(() => line(`  still at it, ${elapsed()}`), REMIND_EVERY_MS);
      try {
        const result = await act();
        line(`  done in ${elapsed()}`);
        return result;
      } finally {
        clearInterval(reminder);
      }
    },
  };
}
