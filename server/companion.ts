import type { Deps } from './deps.ts';
import type { Extender } from './extensions.ts';

/** Other servers in Foyer's process. Production has none; development has the sandbox. */
export interface Companion extends Extender {
  /** Called once per start, when tables and keys exist. */
  prepare(deps: Deps): Promise<void>;
  /** Serves its own ports. */
  serve(deps: Deps): Promise<RunningCompanion>;
  /** Lines for the terminal, printed when everything answers. */
  readyLines(deps: Deps): string[];
}

export interface RunningCompanion {
  /** Foyer is reachable from now on. Resolves when the companion's initial data exist. */
  foyerServes(): Promise<void>;
  close(): Promise<void>;
}
