import { start } from '../server/start.ts';
import { sandbox } from './companion.ts';

/** The server process of development: Foyer, and the sandbox beside it. */
export const startWithSandbox = (): Promise<void> => start(sandbox);
