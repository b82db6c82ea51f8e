import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ClientBuild {
  dir: string;
  remove(): void;
}

/**
 * The client as its sources are now, in a folder of its own. In a process of its own: NODE_ENV chooses the mode.
 * @param mode in `development` React says which attribute it has found different from what it would render
 */
export function buildClient(mode: 'production' | 'development' = 'production'): ClientBuild {
  const dir = mkdtempSync(join(tmpdir(), 'foyer-client-'));
  const vite = join('node_modules', 'vite', 'bin', 'vite.js');
  execFileSync(process.execPath, [vite, 'build', '--mode', mode, '--outDir', dir, '--emptyOutDir'], {
    stdio: 'pipe',
    env: { ...process.env, NODE_ENV: mode },
  });
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
