/**
 * How long a message stays, in milliseconds (specification, sections 4, 8 and 9); `null` stays until it is answered. A script
 * hides it; without one it stays. Pointer or focus on it stops the clock (WCAG 2.2.1).
 */
export const noticeDurationsMs = {
  /** Profile and dashboard. */
  profile: 3000,
  /** Errors at a form's foot. */
  errorBar: 3000,
  /** Terms that have been accepted. */
  terms: 5000,
  /** Before a redirect. */
  redirecting: 1500,
  /** Codes sent again, customers that could not be made. */
  short: 2500,
  /** Terms to be signed, or declined. */
  never: null,
} as const satisfies Record<string, number | null>;

export type NoticeDuration = keyof typeof noticeDurationsMs;
