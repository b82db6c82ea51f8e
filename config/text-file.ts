import { readFileSync } from 'node:fs';

/** The file is in another encoding: a start must not show letters that no one has written. */
export class NotUtf8Error extends Error {
  override name = 'NotUtf8Error';
  constructor() {
    super('is no UTF-8 text: save it as UTF-8');
  }
}

/** The text without a byte order mark, which some editors write. @throws {NotUtf8Error} and the file system's errors */
export function readUtf8File(file: string): string {
  const bytes = readFileSync(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new NotUtf8Error();
  }
}
