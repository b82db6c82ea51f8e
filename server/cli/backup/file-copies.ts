import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { propertyIn } from '../../shared/index.ts';
import { CliError, exitCodes } from '../errors.ts';

/** The fingerprint of a file. */
interface Fingerprint {
  bytes: number;
  sha256: string;
}

const chunkBytes = 1024 * 1024;

/** Opens a file that must be a plain one. @throws {CliError} it is missing, a link, or no file */
export async function openPlainFile(path: string, name: string): Promise<FileHandle> {
  const refuse = (why: string) => new CliError(exitCodes.refused, `Refused: ${name} of the backup ${why}.`);
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = propertyIn(error, 'code');
    if (code === 'ELOOP') throw refuse('is a symbolic link');
    if (code === 'ENOENT' || code === 'ENOTDIR') throw refuse('is missing');
    throw error;
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw refuse('is not a file');
}

/**
 * Reads a file to its end, and writes it to another one.
 * @param target undefined: it is only read
 * @param maxBytes reading stops after so many
 */
export async function copyWithHash(source: FileHandle, target?: FileHandle, maxBytes = Infinity): Promise<Fingerprint> {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(chunkBytes);
  let bytes = 0;
  while (bytes <= maxBytes) {
    const { bytesRead } = await source.read(buffer, 0, chunkBytes, bytes);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    await target?.writeFile(chunk);
    bytes += bytesRead;
  }
  return { bytes, sha256: hash.digest('hex') };
}
