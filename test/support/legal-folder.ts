import { join } from 'node:path';

/** Legal texts with an imprint of an operator, which production requires. */
export const legalFolder = join(import.meta.dirname, 'legal');
