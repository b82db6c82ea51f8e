import { readFileSync, writeFileSync } from 'node:fs';

/**
 * For `node --import`: at SIGUSR2 the wall clock of this process jumps by the milliseconds that the file in CLOCK_FILE names.
 * Timers go on, as they do on a machine whose clock is set.
 */
const { CLOCK_FILE = '' } = process.env;
const RealDate = Date;
let aheadMs = 0;

const now = () => RealDate.now() + aheadMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, values) => Reflect.construct(target, values.length === 0 ? [now()] : values),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

process.on('SIGUSR2', () => {
  aheadMs = Number(readFileSync(CLOCK_FILE, 'utf8'));
  writeFileSync(`${CLOCK_FILE}.taken`, String(aheadMs));
});
