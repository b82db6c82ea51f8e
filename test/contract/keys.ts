export const MINUTE_MS = 60_000;
/** Long enough that a slow machine does not reach it between two calls, short enough to wait for. */
export const SHORT_MS = 500;
export const PAST_SHORT_MS = SHORT_MS + 60;

let serial = 0;
/** A key that no other test of this file uses. */
export const freshKey = () => {
  serial += 1;
  return `key-${serial}`;
};
