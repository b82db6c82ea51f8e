/** Results whose names in the log and on metrics are older than their names in the code. */
const publicNames: Readonly<Record<string, string>> = {
  'already-in-use': 'taken',
  claimed: 'taken-over',
  correct: 'right',
  'daily-limit': 'daily-cap',
  incorrect: 'wrong',
  invalidated: 'void',
  'not-found': 'gone',
  'second-factor-required': 'challenged',
  'too-soon': 'wait',
};

/**
 * The value of `outcome` in the log and on metrics for a result. Operators search and count these values, so that they do
 * not change with the code.
 */
export const toPublicOutcome = (kind: string): string => publicNames[kind] ?? kind;
