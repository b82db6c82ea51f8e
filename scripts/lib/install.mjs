/** Installs exactly the content of package-lock.json, once. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { node24, pathWithoutBin, root } from './paths.mjs';
import { run } from './processes.mjs';
import { Failure } from './say.mjs';
import { readStamp, sameContent, takeStamp, writeStamp } from './stamp.mjs';

const LOCK_FILE = 'package-lock.json';
const stampPath = join(root, 'node_modules/.foyer-install');
/** npm's own record of node_modules, written when an install is complete. */
const npmRecordPath = join(root, 'node_modules/.package-lock.json');

/**
 * @typedef {{ packages?: Record<string, { version?: string, integrity?: string, optional?: boolean,
 *   devOptional?: boolean }> }} LockFile
 */

/**
 * Tests whether npm's record of node_modules matches the lock file. Optional packages may be absent: they are for other
 * platforms.
 * @param {LockFile} wanted package-lock.json
 * @param {LockFile} present node_modules/.package-lock.json
 */
export function agrees(wanted, present) {
  const entries = Object.entries(wanted.packages ?? {}).filter(([path]) => path !== '');
  return (
    entries.length > 0 &&
    entries.every(([path, entry]) => {
      const there = present.packages?.[path];
      if (!there) return entry.optional === true || entry.devOptional === true;
      return there.version === entry.version && there.integrity === entry.integrity;
    })
  );
}

/** True if nothing needs to be installed. */
export function isInstalled() {
  if (!existsSync(node24)) return false;
  const known = readStamp(stampPath);
  if (!known) return adopt();
  return sameContent(takeStamp(root, [LOCK_FILE], known), known) || adopt();
}

/** Accepts the result of the developer's own `npm install` or `npm ci`, if it matches the lock file. */
function adopt() {
  try {
    const [wanted, present] = [join(root, LOCK_FILE), npmRecordPath].map((path) =>
      JSON.parse(readFileSync(path, 'utf8')),
    );
    if (!agrees(wanted, present)) return false;
    writeStamp(stampPath, takeStamp(root, [LOCK_FILE]));
    return true;
  } catch {
    return false;
  }
}

/** @param {import('./say.mjs').Say} say */
export async function install(say) {
  if (isInstalled()) return;
  await say.step('Installing the packages that package-lock.json lists', async () => {
    const stamp = takeStamp(root, [LOCK_FILE]);
    // Both are deleted first: an interrupted install must not look complete.
    rmSync(stampPath, { force: true });
    rmSync(npmRecordPath, { force: true });
    // Compilers and test tools are development packages: they are needed here even with NODE_ENV=production.
    const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error', '--progress=false'];
    // npm runs on the machine's Node: this tree's own is replaced meanwhile.
    const env = { ...process.env, PATH: pathWithoutBin().join(delimiter) };
    await run('npm ci', 'npm', args, { cwd: root, env });
    if (!existsSync(node24)) {
      throw new Failure(
        'npm did not install Node 24 (package "node"): its install script did not run.\n' +
          'If npm is set to ignore install scripts, allow them: npm config set ignore-scripts false',
      );
    }
    writeStamp(stampPath, stamp);
  });
}
