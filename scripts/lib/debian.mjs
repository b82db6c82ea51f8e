/** Installs Debian packages without starting their services. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { onExit, run } from './processes.mjs';

const POLICY_PATH = '/usr/sbin/policy-rc.d';

/** True if this command may install packages: root, on Debian or a derivative. */
export const mayInstall = () =>
  process.getuid?.() === 0 &&
  existsSync('/etc/debian_version') &&
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'apt-get')));

/** @param {string} name whether Debian has such a package */
function isKnown(name) {
  try {
    execFileSync('apt-cache', ['show', '--no-all-versions', name], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {{ debian: string, lighter?: string }[]} parts
 * @param {import('./say.mjs').Say} say
 */
export async function installPackages(parts, say) {
  await say.step(`Installing ${parts.map(({ debian }) => debian).join(', ')} (apt-get)`, async () => {
    // Debian's policy hook against starting services (invoke-rc.d(8)): exit code 101 means forbidden by policy.
    const ours = !existsSync(POLICY_PATH);
    const allowAgain = () => {
      if (ours) rmSync(POLICY_PATH, { force: true });
    };
    if (ours) {
      onExit(allowAgain);
      writeFileSync(POLICY_PATH, '#!/bin/sh\nexit 101\n');
      chmodSync(POLICY_PATH, 0o755);
    }
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    try {
      await run('apt-get update', 'apt-get', ['update', '-q'], { env });
      const packages = parts.map(({ debian, lighter }) => (lighter && isKnown(lighter) ? lighter : debian));
      // Another package manager may be running on a machine that has just started.
      const wait = ['-o', 'DPkg::Lock::Timeout=120'];
      const args = ['install', '-y', '-q', '--no-install-recommends', ...wait, ...packages];
      await run('apt-get install', 'apt-get', args, { env, graceMs: 60_000 });
    } finally {
      allowAgain();
    }
  });
}
