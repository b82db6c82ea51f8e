import { createReadStream } from 'node:fs';
import { refused } from '../errors.ts';

/** One row or object of a file, by names in lower case, as other services have them. */
export interface SourceRow {
  /** Line of its start; the first is 1. */
  line: number;
  values: ReadonlyMap<string, unknown>;
  /** The fault that makes it invalid, in words. */
  fault?: string | undefined;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** More is not a user: most often an unclosed quote or brace. In bytes of CSV, characters of JSON. */
export const maxRowSize = 65_536;

/** The file has another format: the text, with the line if it is known. */
export const brokenFile = (path: string, what: string, line?: number) =>
  refused([`${path}${line === undefined ? '' : `, line ${line}`}: ${what}`]);

/**
 * The bytes of a file in pieces, checked as UTF-8.
 * @param onBytes the number of bytes read
 * @throws {CliError} refused: there is no such file, or it has another encoding
 */
export async function* readChunks(path: string, onBytes: (read: number) => void): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const notText = (at: number) =>
    brokenFile(path, `is not written in UTF-8 (after ${at} bytes); save it as UTF-8, so that names stay as they are`);
  let read = 0;
  const decode = (piece?: Buffer) => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
    } catch {
      throw notText(read);
    }
  };
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
      decode(piece);
      read += piece.length;
      onBytes(read);
      yield piece;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw brokenFile(path, 'there is no such file');
    throw error;
  }
  decode();
}
