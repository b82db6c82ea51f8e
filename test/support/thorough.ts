import { readSpeed } from '../../scripts/lib/test-selection.mjs';

type Thorough = Pick<typeof it, 'each'> & ((...test: Parameters<typeof it>) => void);

const nothing = () => {};

/**
 * `it` of a test that `npm run test:all` has and `npm test` does not: a variant of a test that stands beside it, or one that
 * takes long.
 */
export const thorough: Thorough =
  readSpeed(process.env) === 'all' ? it : Object.assign(nothing, { each: () => nothing });
