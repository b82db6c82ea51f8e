import { crc32 } from 'node:zlib';
import { checkSize, ImageFault, ImageReader } from './image.ts';

/** The picture and its colours; texts, times, EXIF and animations are left out. */
const keptChunks = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND', 'tRNS', 'gAMA', 'cHRM', 'sRGB', 'iCCP', 'sBIT']);
const signatureBytes = 8;

/** The picture alone. @throws {ImageFault} */
export function cleanPng(bytes: Buffer): Buffer {
  const reader = new ImageReader(bytes);
  const parts = [reader.take(signatureBytes)];
  const names = new Set<string>();
  while (!names.has('IEND')) {
    const start = reader.at;
    const length = reader.take(4).readUInt32BE();
    const nameAndData = reader.take(4 + length);
    const name = nameAndData.toString('latin1', 0, 4);
    if (reader.take(4).readUInt32BE() !== crc32(nameAndData)) throw new ImageFault('a damaged part');
    if ((name === 'IHDR') !== (names.size === 0)) throw new ImageFault('a PNG begins with IHDR');
    if (name === 'IHDR') {
      if (length !== 13) throw new ImageFault('a PNG header');
      checkSize(nameAndData.readUInt32BE(4), nameAndData.readUInt32BE(8));
    }
    names.add(name);
    if (keptChunks.has(name)) parts.push(reader.since(start));
  }
  if (!names.has('IDAT')) throw new ImageFault('a PNG without a picture');
  return Buffer.concat(parts);
}
