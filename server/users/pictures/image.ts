/**
 * Uploaded pictures without everything that is not the picture: a photo contains where and with which device it was
 * taken, and a file can be a picture and a page at once.
 */

/** Maximum width and height: a small file can stand for a picture that fills the memory of every reader. */
const maxSide = 6_000;

/** A picture that browsers show, as it is stored. */
export interface CleanImage {
  type: 'image/jpeg' | 'image/png' | 'image/webp';
  bytes: Buffer;
}

/** The file is not of the supported kinds, or damaged. */
export class ImageFault extends Error {
  override name = 'ImageFault';
}

/** Reads a file without running over its end. */
export class ImageReader {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  /** The next bytes. @throws {ImageFault} if there are fewer */
  take(length: number): Buffer {
    const end = this.at + length;
    if (end > this.#bytes.length) throw new ImageFault('the file ends early');
    const part = this.#bytes.subarray(this.at, end);
    this.at = end;
    return part;
  }

  /** Goes to the next byte of this value. @throws {ImageFault} if there is none */
  skipTo(value: number): void {
    const found = this.#bytes.indexOf(value, this.at);
    if (found < 0) throw new ImageFault('the file ends early');
    this.at = found;
  }

  /** The bytes before this position, from `start`. */
  since(start: number): Buffer {
    return this.#bytes.subarray(start, this.at);
  }
}

/** @throws {ImageFault} */
export function checkSize(width: number, height: number): void {
  if (width < 1 || height < 1 || width > maxSide || height > maxSide)
    throw new ImageFault(`a picture of ${width} × ${height} pixels`);
}
