/**
 * `npm run build`: builds dist/, if a source has changed. tsc compiles the server, Rolldown joins it (lib/bundle.mjs),
 * and Vite builds the browser's assets.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { command, root, runTool } from './lib/processes.mjs';

const inputs = [
  ...['server', 'views', 'config', 'locales', 'client', 'tsconfig.json', 'vite.config.ts', 'package-lock.json'],
  ...['scripts/build.mjs', 'scripts/lib/bundle.mjs'],
];

/** Whether the build includes the sandbox: one with NODE_ENV=production does not. */
const hasSandbox = process.env.NODE_ENV !== 'production';

/** The entry of the server: the sandbox has its own. */
export const serverEntry = `dist/${hasSandbox ? 'sandbox' : 'server'}/main.js`;

/** It has the digests of the sources that dist/ was built from. */
export const stampPath = join(root, 'dist/.foyer-build');

/** A digest of the names, sizes and times of all files. @param {string[]} paths of files and folders */
function digest(paths) {
  const hash = createHash('sha256');
  for (const path of paths) {
    const isFolder = statSync(join(root, path)).isDirectory();
    const below = isFolder ? readdirSync(join(root, path), { recursive: true, encoding: 'utf8' }).sort() : [''];
    for (const name of below) {
      const stat = statSync(join(root, path, name), { throwIfNoEntry: false });
      if (stat?.isFile()) hash.update(`${path}/${name} ${stat.size} ${stat.mtimeMs}\n`);
    }
  }
  return hash.digest('hex');
}

const currentStamp = () => `${digest(inputs)} ${hasSandbox ? digest(['sandbox']) : 'without sandbox'}`;

function readStamp() {
  try {
    return readFileSync(stampPath, 'utf8');
  } catch {
    return '';
  }
}

/** True if dist/ was built from the current sources. */
export const isBuilt = () => readStamp() === currentStamp();

/** True if the product in dist/ was, whether or not the sandbox is beside it. */
export const isProductBuilt = () => readStamp().startsWith(digest(inputs));

async function buildServer() {
  if (!hasSandbox) {
    // tsc's record of what it has written names the sandbox.
    for (const path of ['dist/sandbox', 'dist/.tsbuildinfo'])
      rmSync(join(root, path), { recursive: true, force: true });
  }
  await runTool('tsc', ['-p', hasSandbox ? 'sandbox' : '.', '--pretty', 'false']);
  await runTool('node', ['scripts/lib/bundle.mjs', ...(hasSandbox ? ['--sandbox'] : [])]);
}

export async function build() {
  if (isBuilt()) return;
  console.error('foyer: building server and client ...');
  const stamp = currentStamp();
  rmSync(stampPath, { force: true });
  const viteConfig = hasSandbox ? 'sandbox/vite.config.ts' : 'vite.config.ts';
  await Promise.all([buildServer(), runTool('vite', ['build', '--config', viteConfig, '--logLevel', 'warn'])]);
  mkdirSync(dirname(stampPath), { recursive: true });
  writeFileSync(stampPath, stamp);
}

if (import.meta.main) await command(build);
