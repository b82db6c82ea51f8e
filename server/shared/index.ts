/**
 * The module of values and functions without state that every other module may use. It imports no other module.
 */
export { dayMs, hourMs, minuteMs } from './time.ts';
