import { accessSync, constants, mkdtempSync, rmdirSync, type Stats, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { propertyIn } from './shared/index.ts';

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

/** The reason that this user cannot write into a folder, or undefined. */
function writeFault(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
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

/** The folder itself, or the nearest one above it that exists. */
function nearestFolder(path: string): string {
  const parent = dirname(path);
  return parent === path || readStat(path) ? path : nearestFolder(parent);
}

/**
 * The reason that this user cannot keep files in DATA_DIR, or undefined; a missing folder is made by the start.
 * @param path absolute
 */
export function findDataFolderFault(path: string): string | undefined {
  const nearest = nearestFolder(path);
  const stats = readStat(nearest);
  if (!stats?.isDirectory()) return `${path} cannot be a folder: ${nearest} is a file; write the path of a folder`;
  const code = writeFault(nearest);
  if (code === undefined) {
    const fault = nearest === path ? undefined : makeFault(nearest);
    return fault && `${path} cannot be made: ${nearest} accepts no folder (${fault}); write the path of another folder`;
  }
  if (code === 'EROFS') return `${path} cannot be written: ${nearest} is on a read-only file system`;
  const access = `${nearest} belongs to user ${stats.uid} and has mode ${octal(stats.mode)}`;
  const remedy = nearest === path ? `chown it to the service's user` : `make it and chown it to the service's user`;
  return `${path} cannot be written by user ${thisUser()}: ${access} (${code}); ${remedy}`;
}
