/**
 * The duration of a message, in milliseconds (specification, sections 4, 8 and 9); `null` stays until it is answered. A
 * script hides it; without one it stays. Pointer or focus on it stops the time (WCAG 2.2.1).
 */
export const noticeDurationsMs = {
  /** Profile and dashboard. */
  profile: 3000,
  /** Errors at the bottom of a form. */
  errorBar: 3000,
  /** Accepted terms. */
  terms: 5000,
  /** Before a redirect. */
  redirecting: 1500,
  /** Codes sent again, customers that could not be created. */
  short: 2500,
  /** Terms to accept, or declined ones. */
  never: null,
} as const satisfies Record<string, number | null>;

export type NoticeDuration = keyof typeof noticeDurationsMs;
