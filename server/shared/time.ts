/** Durations in milliseconds, as the clock and the stores count them. */
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
