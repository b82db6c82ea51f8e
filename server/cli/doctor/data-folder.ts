import { accessSync, constants, type Stats, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findDataFolderFault, listStoreFiles } from '../../data-folder-fault.ts';
import type { Setup } from './setup.ts';

/** All of Foyer's files there. */
const fileNames = ['foyer.db', 'short-lived.db', 'development-secret-key'].flatMap((name) =>
  name.endsWith('.db') ? [name, `${name}-wal`, `${name}-shm`] : [name],
);

const readStat = (path: string): Stats | undefined => {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
};

function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Tests whether this user can list it and read its files. */
export const isReadableFolder = (path: string): boolean =>
  (readStat(path)?.isDirectory() ?? false) && mayAccess(path, constants.R_OK | constants.X_OK);

export type FolderFacts = ReturnType<typeof readFolder>;

export function readFolder({ config }: Setup) {
  const path = config.DATA_DIR;
  const stats = readStat(path);
  // A missing folder will be on the file system of its parent.
  const { bavail, blocks, bsize, type } = statfsSync(stats ? path : '/');
  return {
    path,
    /** Undefined if there is none. */
    mode: stats?.mode,
    owner: stats?.uid ?? 0,
    /** This user; undefined on systems without users. */
    uid: process.getuid?.(),
    /** The reason that this user can keep no files there. */
    fault: findDataFolderFault(path, listStoreFiles(config)),
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    /** `f_type` of statfs(2). */
    fileSystem: type,
    files: fileNames.flatMap((name) => {
      const found = readStat(join(path, name));
      return found ? [{ name, mode: found.mode, owner: found.uid }] : [];
    }),
    /** Whether it contains a store. */
    used: config.DATABASE_URL === undefined || config.REDIS_URL === undefined,
    production: config.production,
  };
}

/**
 * statfs(2) and linux/magic.h; SQLite's log needs shared memory between all processes, which network file systems lack.
 */
const networks = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9p'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
]);
const memory = new Set([0x01021994, 0x858458f6]);

// The number is signed on some machines.
export const networkName = (fileSystem: number) => networks.get(fileSystem >>> 0);
export const isFuse = (fileSystem: number) => fileSystem >>> 0 === 0x65735546;
export const isMemory = (fileSystem: number) => memory.has(fileSystem >>> 0);
