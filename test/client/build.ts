import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ClientBuild {
  dir: string;
  remove(): void;
}

/** The client as it is shipped, which `npm run build` (and `npm test` before its tests) makes of its sources. */
export const builtClientDir = join(import.meta.dirname, '..', '..', 'dist', 'client');

/**
 * The client as its sources are now, with React's development build in place of Preact: it says which attribute it has found
 * different from what it would render. In a folder of its own, and in a process of its own: NODE_ENV chooses the mode.
 */
export function buildClientForDevelopment(): ClientBuild {
  const dir = mkdtempSync(join(tmpdir(), 'foyer-client-'));
  const vite = join('node_modules', 'vite', 'bin', 'vite.js');
  const options = ['--config', 'sandbox/vite.config.ts', '--mode', 'react', '--outDir', dir, '--emptyOutDir'];
  execFileSync(process.execPath, [vite, 'build', ...options], {
    stdio: 'pipe',
    env: { ...process.env, NODE_ENV: 'development' },
  });
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
