import { checkSize, ImageFault, ImageReader } from './image.ts';

/** Chunks of the picture and its colours; EXIF, XMP and unknown ones are left out. */
const keptChunks = new Set(['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ICCP']);
/** Bits of VP8X (WebP container specification): XMP and EXIF, which are left out, and an animation. */
const metadataBits = 0x04 | 0x08;
const animationBit = 0x02;
const headBytes = 12;

/** @throws {ImageFault} */
function checkChunk(name: string, data: Buffer): void {
  if (name === 'VP8X') {
    if (data.length < 10 || ((data[0] ?? 0) & animationBit) !== 0) throw new ImageFault('a moving picture');
    checkSize(data.readUIntLE(4, 3) + 1, data.readUIntLE(7, 3) + 1);
  }
  if (name === 'VP8 ') {
    if (data.length < 10 || data.readUIntBE(3, 3) !== 0x9d012a) throw new ImageFault('a VP8 frame');
    checkSize(data.readUInt16LE(6) & 0x3fff, data.readUInt16LE(8) & 0x3fff);
  }
  if (name === 'VP8L') {
    if (data.length < 5 || data[0] !== 0x2f) throw new ImageFault('a VP8L frame');
    const sizes = data.readUInt32LE(1);
    checkSize((sizes & 0x3fff) + 1, ((sizes >>> 14) & 0x3fff) + 1);
  }
}

function toChunk(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

/** The picture alone. @throws {ImageFault} */
export function cleanWebp(bytes: Buffer): Buffer {
  const outer = new ImageReader(bytes);
  const size = outer.take(headBytes).readUInt32LE(4);
  const reader = new ImageReader(outer.take(Math.max(0, size - 4)));
  const parts: Buffer[] = [];
  let frameCount = 0;
  while (!reader.isAtEnd) {
    const head = reader.take(8);
    const name = head.toString('latin1', 0, 4);
    const length = head.readUInt32LE(4);
    const data = Buffer.from(reader.take(length));
    // The last one may lack its padding.
    if (length % 2 === 1 && !reader.isAtEnd) reader.take(1);
    checkChunk(name, data);
    if (name === 'VP8 ' || name === 'VP8L') frameCount += 1;
    if (name === 'VP8X') data[0] = (data[0] ?? 0) & ~metadataBits;
    if (keptChunks.has(name)) parts.push(toChunk(name, data));
  }
  if (frameCount !== 1) throw new ImageFault('a WebP without one picture');
  const body = Buffer.concat([Buffer.from('WEBP'), ...parts]);
  const head = Buffer.from('RIFF\0\0\0\0', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}
