import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own needs root and Linux, as the container of the continuous integration has. */
export const canMount = process.getuid?.() === 0 && existsSync('/proc/mounts');

/** @param owner who may write there; by default this process */
export function mountSmallDisk(megabytes: number, owner?: { uid: number; gid: number }) {
  const folder = mkdtempSync(join(tmpdir(), 'foyer-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  if (owner) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o700);
  const ballast = join(folder, 'ballast');
  return {
    folder,
    fill() {
      expect(() => writeFileSync(ballast, Buffer.alloc((megabytes + 1) * 1_048_576))).toThrow('ENOSPC');
    },
    empty: () => rmSync(ballast, { force: true }),
    remove() {
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
