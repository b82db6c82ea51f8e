import { accessSync, constants, type Stats, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bytesText, type Finding, findingsFor, those } from './finding.ts';
import type { Setup } from './setup.ts';

const { ok, note, warning, fault } = findingsFor('data-folder');

/** All of Foyer's files there. */
const fileNames = ['foyer.db', 'short-lived.db', 'development-secret-key'].flatMap((name) =>
  name.endsWith('.db') ? [name, `${name}-wal`, `${name}-shm`] : [name],
);

export interface FolderFacts {
  path: string;
  /** Undefined if there is none. */
  mode: number | undefined;
  isFolder: boolean;
  owner: number;
  /** This user; undefined on systems without users. */
  uid: number | undefined;
  writable: boolean;
  freeBytes: number;
  totalBytes: number;
  /** `f_type` of statfs(2). */
  fileSystem: number;
  files: { name: string; mode: number; owner: number }[];
  /** Whether it contains a store. */
  used: boolean;
  production: boolean;
}

const readStat = (path: string): Stats | undefined => {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
};

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function lookAtFolder({ config }: Setup): FolderFacts {
  const path = config.DATA_DIR;
  const stats = readStat(path);
  // A missing folder will be on the file system of its parent.
  const there = stats ? path : '/';
  const { bavail, blocks, bsize, type } = statfsSync(there);
  return {
    path,
    mode: stats?.mode,
    isFolder: stats?.isDirectory() ?? false,
    owner: stats?.uid ?? 0,
    uid: process.getuid?.(),
    writable: mayWrite(path),
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    fileSystem: type,
    files: fileNames.flatMap((name) => {
      const found = readStat(join(path, name));
      return found ? [{ name, mode: found.mode, owner: found.uid }] : [];
    }),
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
const fuse = 0x65735546;
const memory = new Set([0x01021994, 0x858458f6]);

const octal = (mode: number) => (mode & 0o777).toString(8).padStart(3, '0');

function judgePlace({ fileSystem, path, production }: FolderFacts): Finding | undefined {
  // The number is signed on some machines.
  const type = fileSystem >>> 0;
  const network = networks.get(type);
  if (network !== undefined) {
    return fault('data-folder.network', {
      seen: `DATA_DIR lies on a network file system (${network}).`,
      why: 'SQLite’s log and locks do not work there: the database will be damaged sooner or later.',
      todo: `Move ${path} to a disk of this host, or set DATABASE_URL and REDIS_URL.`,
    });
  }
  if (type === fuse) {
    return warning('data-folder.network', {
      seen: 'DATA_DIR lies on a FUSE file system.',
      why: 'Many of those are networks, on which SQLite’s log and locks do not work.',
      todo: 'If it is one, move the folder to a disk of this host, or set DATABASE_URL and REDIS_URL.',
    });
  }
  if (production && memory.has(type)) {
    return warning('data-folder.memory', {
      seen: 'DATA_DIR lies in memory (tmpfs).',
      why: 'With the next start of this host all members, clients and keys are gone.',
      todo: `Set DATA_DIR to a folder on a disk.`,
    });
  }
  return undefined;
}

function judgeSpace({ freeBytes, totalBytes }: FolderFacts): Finding {
  const seen = `${bytesText(freeBytes)} of ${bytesText(totalBytes)} are free.`;
  const why = 'On a full disk no one can sign in, because nothing can be written.';
  const todo = 'Make room, or a larger disk.';
  if (freeBytes < 100e6) return fault('data-folder.space', { seen, why, todo });
  if (freeBytes < 1e9) return warning('data-folder.space', { seen, why, todo });
  return ok('data-folder.space', seen);
}

function judgePermissions({ mode = 0, path, owner, files }: FolderFacts): Finding[] {
  const closed = (mode & 0o007) === 0;
  const open = files.filter((file) => (file.mode & 0o007) !== 0);
  const unknowns = files.filter((file) => file.owner !== owner);
  const seenByAll = [
    ...(closed ? [] : [`DATA_DIR (${octal(mode)})`]),
    ...open.map((f) => `${f.name} (${octal(f.mode)})`),
  ];
  // In a closed folder the files are unreachable.
  const harmful = !closed && (open.length > 0 || (mode & 0o002) !== 0);
  return those(
    !closed
      ? (harmful ? fault : warning)('data-folder.permissions', {
          seen: `Every user of this host can get at ${seenByAll.join(', ')}.`,
          why: 'Members’ addresses, password hashes and sealed keys lie there.',
          todo: `chmod 700 ${path}${open.map(({ name }) => ` && chmod 600 ${join(path, name)}`).join('')}`,
        })
      : ok('data-folder.permissions', `${path} is closed to other users (${octal(mode)}).`),
    unknowns.length > 0 &&
      warning('data-folder.owner', {
        seen: `${unknowns.map(({ name }) => name).join(', ')}: another owner than the folder.`,
        why: 'A file that root has made cannot be written by the server’s user.',
        todo: `chown ${owner} ${unknowns.map(({ name }) => join(path, name)).join(' ')}; run \`foyer\` as the server’s user.`,
      }),
  );
}

/** The folder of the SQLite files: its permissions and file system. */
export function judgeFolder(facts: FolderFacts): Finding[] {
  const { path, mode, isFolder, writable, owner, uid, used } = facts;
  if (!used) return [ok('data-folder.used', 'Nothing is kept in DATA_DIR: both stores are servers.')];
  if (mode === undefined) {
    return [
      note('data-folder.missing', {
        seen: `DATA_DIR ${path} is not there yet.`,
        why: 'The first start makes it, readable for its user alone.',
        todo: 'Start Foyer; if it has run before, DATA_DIR is not the one that the server has.',
      }),
    ];
  }
  if (!isFolder || !writable) {
    return [
      fault('data-folder.writable', {
        seen: isFolder
          ? `This user cannot write to DATA_DIR ${path} (owner ${owner}, this is ${uid}).`
          : `DATA_DIR ${path} is no folder.`,
        why: 'The SQLite files lie there: nothing can be kept.',
        todo: isFolder
          ? 'Run this command as the server’s user; if it is, chown the folder to it.'
          : 'Set DATA_DIR to a folder that only Foyer’s user can read.',
      }),
    ];
  }
  return those(judgePlace(facts), judgeSpace(facts), ...judgePermissions(facts));
}
