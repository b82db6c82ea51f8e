/** Durations in milliseconds, as the clock and the stores count them. */
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/**
 * The same time of day so many calendar months later, in UTC: after January 31 comes the last day of February.
 * @param day of the month, if another one is sought
 */
export function addMonths(fromMs: number, months: number, day = new Date(fromMs).getUTCDate()): number {
  const end = new Date(fromMs);
  end.setUTCDate(1);
  end.setUTCMonth(end.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate();
  return end.setUTCDate(Math.min(day, lastDay));
}
