import { checkSize, ImageFault, ImageReader } from './image.ts';

const startOfScan = 0xda;
const endOfImage = 0xd9;
/** Baseline, extended and progressive frames: the ones that browsers show. */
const frames = new Set([0xc0, 0xc1, 0xc2]);
/** Tables of the decoder: Huffman, quantization, restart interval. */
const tables = new Set([0xc4, 0xdb, 0xdd]);

const begins = (data: Buffer, text: string) => data.subarray(0, text.length).toString('latin1') === text;

/** The application segments that change how the picture looks: colours, not places or devices. */
const isOfColours = (marker: number, data: Buffer): boolean =>
  (marker === 0xe2 && begins(data, 'ICC_PROFILE\0')) || (marker === 0xee && begins(data, 'Adobe'));

const exifStart = 'Exif\0\0';
const orientationTag = 0x0112;

/** How a camera was held, 1 to 8 (EXIF 2.3, section 4.6.4); undefined if the segment does not say. */
function readOrientation(data: Buffer): number | undefined {
  if (!begins(data, exifStart)) return undefined;
  const tiff = data.subarray(exifStart.length);
  const isLittle = begins(tiff, 'II');
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const long = (at: number) => (isLittle ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  try {
    const directory = long(4);
    const count = Math.min(short(directory), 200);
    const entries = Array.from({ length: count }, (_, index) => directory + 2 + index * 12);
    const entry = entries.find((at) => short(at) === orientationTag);
    const value = entry === undefined ? undefined : short(entry + 8);
    return value !== undefined && value >= 1 && value <= 8 ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An EXIF segment with the orientation alone: without it, photos of phones lie on their side. */
function orientationSegment(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('MM\0*', 'latin1');
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(orientationTag, 10);
  tiff.writeUInt16BE(3, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return toSegment(0xe1, Buffer.concat([Buffer.from(exifStart, 'latin1'), tiff]));
}

function toSegment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** The next marker; fill bytes before it are allowed. */
function takeMarker(reader: ImageReader): number {
  if (reader.take(1)[0] !== 0xff) throw new ImageFault('no JPEG marker');
  let marker = 0xff;
  while (marker === 0xff) marker = reader.take(1)[0] ?? 0;
  return marker;
}

/** Compressed data end before a marker that is neither a stuffed byte nor a restart. */
function takeScanData(reader: ImageReader): Buffer {
  const start = reader.at;
  for (;;) {
    reader.skipTo(0xff);
    const next = reader.take(2)[1] ?? 0;
    const isData = next === 0 || (next >= 0xd0 && next <= 0xd7);
    if (isData) continue;
    reader.at -= 2;
    return reader.since(start);
  }
}

/** @throws {ImageFault} */
function checkFrame(data: Buffer): void {
  if (data.length < 6) throw new ImageFault('a JPEG frame');
  checkSize(data.readUInt16BE(3), data.readUInt16BE(1));
}

interface Segment {
  marker: number;
  data: Buffer;
  /** The compressed data after the start of a scan. */
  scan: Buffer;
}

/** The segments up to the end of the image. */
function* takeSegments(reader: ImageReader): Generator<Segment> {
  for (;;) {
    const marker = takeMarker(reader);
    if (marker === endOfImage) return;
    const length = reader.take(2).readUInt16BE();
    const data = reader.take(Math.max(0, length - 2));
    yield { marker, data, scan: marker === startOfScan ? takeScanData(reader) : Buffer.alloc(0) };
  }
}

const isOfPicture = ({ marker, data }: Segment): boolean =>
  frames.has(marker) || tables.has(marker) || marker === startOfScan || isOfColours(marker, data);

/** The picture alone. @throws {ImageFault} */
export function cleanJpeg(bytes: Buffer): Buffer {
  const reader = new ImageReader(bytes);
  reader.take(2);
  const segments = [...takeSegments(reader)];
  const ofFrames = segments.filter(({ marker }) => frames.has(marker));
  for (const { data } of ofFrames) checkFrame(data);
  if (ofFrames.length !== 1 || !segments.some(({ marker }) => marker === startOfScan))
    throw new ImageFault('a JPEG without one picture');
  const found = segments.flatMap(({ marker, data }) => (marker === 0xe1 ? (readOrientation(data) ?? []) : []));
  const orientation = found[0] ?? 1;
  const parts = segments.filter(isOfPicture).flatMap(({ marker, data, scan }) => [toSegment(marker, data), scan]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...(orientation === 1 ? [] : [orientationSegment(orientation)]),
    ...parts,
    Buffer.from([0xff, endOfImage]),
  ]);
}
