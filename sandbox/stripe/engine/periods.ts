/** Billing periods, in seconds since the epoch; days, months and years are those of UTC, as at Stripe. */
export interface Recurring {
  interval: 'day' | 'week' | 'month' | 'year' | (string & {});
  interval_count: number;
}

const day = 86_400;

/** The anchor moved by so many months; a day that the month does not have becomes its last one. */
function addMonths(anchor: number, months: number): number {
  const from = new Date(anchor * 1_000);
  const to = new Date(from);
  to.setUTCDate(1);
  to.setUTCMonth(from.getUTCMonth() + months);
  const last = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
  to.setUTCDate(Math.min(from.getUTCDate(), last));
  return to.getTime() / 1_000;
}

/** The anchor plus so many periods, counted from the anchor: 31 January, 28 February, 31 March. */
export function addPeriods(anchor: number, { interval, interval_count }: Recurring, periods: number): number {
  const count = interval_count * periods;
  if (interval === 'day') return anchor + count * day;
  if (interval === 'week') return anchor + count * 7 * day;
  return addMonths(anchor, interval === 'year' ? count * 12 : count);
}

/** The first end of a period that lies after a time. */
export function nextPeriodEnd(anchor: number, recurring: Recurring, after: number): number {
  for (let periods = after < anchor ? 0 : 1; ; periods += 1) {
    const end = addPeriods(anchor, recurring, periods);
    if (end > after) return end;
  }
}

export const monthsAfter = addMonths;

export const sameInterval = (a: Recurring, b: Recurring): boolean =>
  a.interval === b.interval && a.interval_count === b.interval_count;
