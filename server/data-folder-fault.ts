import { accessSync, constants, mkdtempSync, rmdirSync, type Stats, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Config } from '../config/load.ts';
import { propertyIn } from './shared/index.ts';
import { type DataFile, databaseFile, listDataFiles, shortLivedFile } from './store/index.ts';

/** `foyer (998)`, or the number alone if the system has no such user; without users the empty text. */
function thisUser(): string {
  const uid = process.getuid?.();
  if (uid === undefined) return '';
  try {
    return `${userInfo().username} (${uid})`;
  } catch {
    return String(uid);
  }
}

const octal = (mode: number) => (mode & 0o777).toString(8).padStart(3, '0');

function readStat(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The reason that this user cannot write into a folder (or has no such access to a file), or undefined. */
function writeFault(path: string, mode = constants.W_OK | constants.X_OK): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return String(propertyIn(error, 'code'));
  }
}

/** A file system that cannot have folders of ours, such as /proc, also says that it can be written. */
function makeFault(folder: string): string | undefined {
  try {
    rmdirSync(mkdtempSync(join(folder, '.foyer-')));
    return undefined;
  } catch (error) {
    return String(propertyIn(error, 'code'));
  }
}

/** The files of the stores that are no servers. */
export const listStoreFiles = ({ DATABASE_URL, REDIS_URL }: Pick<Config, 'DATABASE_URL' | 'REDIS_URL'>): DataFile[] => [
  ...(DATABASE_URL === undefined ? [databaseFile] : []),
  ...(REDIS_URL === undefined ? [shortLivedFile] : []),
];

/** A file that this user cannot write, such as one of a command that root has run. */
function findDataFileFault(folder: string, files: readonly DataFile[]): string | undefined {
  for (const name of listDataFiles(folder, files)) {
    const file = join(folder, name);
    const stats = readStat(file);
    if (stats?.isDirectory()) return `${file} is a folder, where Foyer keeps a file; move it away`;
    const code = stats && writeFault(file, constants.R_OK | constants.W_OK);
    if (stats && code !== undefined)
      return `${file} cannot be written by user ${thisUser()}: it belongs to user ${stats.uid} and has mode ${octal(stats.mode)} (${code}); chown it to the service's user`;
  }
  return undefined;
}

/** The folder itself, or the nearest one above it that exists. */
function nearestFolder(path: string): string {
  const parent = dirname(path);
  return parent === path || readStat(path) ? path : nearestFolder(parent);
}

/**
 * The reason that this user cannot keep files in DATA_DIR, or undefined; a missing folder is made by the start.
 * @param path absolute
 * @param files of the stores that it contains
 */
export function findDataFolderFault(path: string, files: readonly DataFile[]): string | undefined {
  const nearest = nearestFolder(path);
  const stats = readStat(nearest);
  if (!stats?.isDirectory()) return `${path} cannot be a folder: ${nearest} is a file; write the path of a folder`;
  const code = writeFault(nearest);
  if (code === undefined) {
    if (nearest === path) return findDataFileFault(path, files);
    const fault = makeFault(nearest);
    return fault && `${path} cannot be made: ${nearest} accepts no folder (${fault}); write the path of another folder`;
  }
  if (code === 'EROFS') return `${path} cannot be written: ${nearest} is on a read-only file system`;
  const access = `${nearest} belongs to user ${stats.uid} and has mode ${octal(stats.mode)}`;
  const remedy = nearest === path ? `chown it to the service's user` : `make it and chown it to the service's user`;
  return `${path} cannot be written by user ${thisUser()}: ${access} (${code}); ${remedy}`;
}
