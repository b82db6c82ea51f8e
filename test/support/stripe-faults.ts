/** The violations of Stripe's description since the last test. */
const faults: string[] = [];

export const addStripeFaults = (...lines: string[]): void => void faults.push(...lines);

/** For a test that must violate it: returns the violations, which then fail nothing. */
export const takeStripeFaults = (): string[] => [...new Set(faults.splice(0))];
