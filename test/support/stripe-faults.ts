/** What Stripe's description forbids and was seen since the last test. */
const faults: string[] = [];

export const addStripeFaults = (...lines: string[]): void => void faults.push(...lines);

/** For a test that asks what it must not: what was wrong with it, which then fails nothing. */
export const takeStripeFaults = (): string[] => [...new Set(faults.splice(0))];
