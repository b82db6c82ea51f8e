/**
 * The first step of the commands: `npm ci`, if node_modules/ is not what package-lock.json lists. It runs on the Node of
 * the machine; the other scripts run on Node 24, which is one of the packages.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = join(root, 'node_modules/.bin');
const node24 = join(bin, 'node');
/** npm's own record of node_modules, which it writes when an install is complete. */
const npmRecordPath = join(root, 'node_modules/.package-lock.json');

/**
 * @typedef {{ packages: Record<string, { version?: string, integrity?: string, optional?: boolean,
 *   devOptional?: boolean }> }} LockFile
 */

/** @param {string} path @returns {LockFile} */
const readLockFile = (path) => JSON.parse(readFileSync(path, 'utf8'));

function isInstalled() {
  if (!existsSync(node24) || !existsSync(npmRecordPath)) return false;
  const wanted = readLockFile(join(root, 'package-lock.json')).packages;
  const present = readLockFile(npmRecordPath).packages;
  return Object.entries(wanted).every(([path, entry]) => {
    const there = present[path];
    // The project itself is in the lock file only. Optional packages are for other platforms.
    if (!there) return path === '' || entry.optional === true || entry.devOptional === true;
    return there.version === entry.version && there.integrity === entry.integrity;
  });
}

function install() {
  console.error('foyer: installing the packages of package-lock.json (npm ci), which takes a minute or two ...');
  // An interrupted install must not look complete.
  rmSync(npmRecordPath, { force: true });
  // npm runs on the machine's Node: this tree's own is replaced meanwhile.
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => resolve(folder) !== resolve(bin));
  // Compilers and test tools are development packages: the commands need them with NODE_ENV=production as well.
  const { status, error } = spawnSync('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, PATH: folders.join(delimiter) },
    stdio: ['ignore', 2, 2],
  });
  if (error) throw error;
  if (status !== 0) return 'npm ci failed';
  if (existsSync(node24)) return undefined;
  return (
    'npm did not install Node 24 (package "node"): its install script did not run.\n' +
    'If npm is set to ignore install scripts, allow them: npm config set ignore-scripts false'
  );
}

const fault = isInstalled() ? undefined : install();
if (fault !== undefined) {
  console.error(`foyer: ${fault}`);
  process.exit(1);
}
