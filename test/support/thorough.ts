import { readSpeed } from '../../scripts/lib/test-selection.mjs';

type Thorough = Pick<typeof it, 'each'> & ((...test: Parameters<typeof it>) => void);

const nothing = () => {};

/** `it` of a test that only `npm run test:all` runs: a variant of a neighboring test, or a slow one. */
export const thorough: Thorough =
  readSpeed(process.env) === 'all' ? it : Object.assign(nothing, { each: () => nothing });
