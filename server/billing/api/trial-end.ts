import { dayMs } from '../../shared/index.ts';
import type { SubmittedValue } from '../stripe/wire-format.ts';

interface Trial {
  /** Days of the member's own trial, and its end in milliseconds since the epoch. */
  days: number;
  endMs: number | null;
  /** Days of a trial that begins now. */
  offeredDays: number;
}

/** A larger number is a time. */
const maxTrialDays = 100_000;
/** A time of the year 5138 in seconds, of 1973 in milliseconds. */
const firstMilliseconds = 100_000_000_000;

/**
 * Compares `trial_end` of a caller: days, or the end in seconds (as Stripe has it) or milliseconds since the epoch. A
 * caller computes the end by its own clock, so it may be a day off.
 * @param submitted undefined, null and '' mean not submitted
 */
export function compareTrialEnd(
  name: string,
  submitted: string | number | null | undefined,
  { trial: { days, endMs, offeredDays }, nowMs }: { trial: Trial; nowMs: number },
): SubmittedValue {
  if (submitted == null || submitted === '') return { name, agrees: undefined, true_: '' };
  const value = Number(submitted);
  if (!(value > maxTrialDays))
    return { name, agrees: value === days || value === offeredDays, true_: String(offeredDays) };
  const end = value < firstMilliseconds ? value * 1000 : value;
  const possible = [...(endMs === null ? [] : [endMs]), nowMs + offeredDays * dayMs];
  return { name, agrees: possible.some((one) => Math.abs(one - end) <= dayMs), true_: String(possible[0]) };
}
