import type { Deps } from './deps.ts';
import type { ExtensionBase, Extensions } from './extensions.ts';

/** What runs beside Foyer in its process. Production has none; development has the sandbox. */
export interface Companion {
  /** What it adds to the app. */
  extend(base: ExtensionBase): Extensions;
  /** Called once per start, when the tables and keys are there. */
  prepare(deps: Deps): Promise<void>;
  /** Serves what it has on ports of its own. */
  serve(deps: Deps): Promise<RunningCompanion>;
  /** Lines for the terminal, printed when everything answers. */
  readyLines(deps: Deps): string[];
}

export interface RunningCompanion {
  /** Foyer can be reached from now on. Resolves when all that the companion begins with is there. */
  foyerServes(): Promise<void>;
  close(): Promise<void>;
}
