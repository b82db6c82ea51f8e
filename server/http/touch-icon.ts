import { crc32, deflateSync } from 'node:zlib';

type Rgb = readonly [red: number, green: number, blue: number];

const sizePx = 180;
/** The drawing of `client/icon.svg`: 32 units wide, with lines of 2.6. */
const units = 32;
const halfLine = 1.3;
const cream: Rgb = [0xf6, 0xf1, 0xe7];
const gold: Rgb = [0xe0, 0xa4, 0x58];
const centre = 16;
const [springLine, foot] = [16.5, 25];

const toRgb = (hex: string): Rgb => [
  Number.parseInt(hex.slice(1, 3), 16),
  Number.parseInt(hex.slice(3, 5), 16),
  Number.parseInt(hex.slice(5, 7), 16),
];

/** From a point to an arch: a half circle on two legs. */
function toArch(x: number, y: number, radius: number): number {
  if (y <= springLine) return Math.abs(Math.hypot(x - centre, y - springLine) - radius);
  return Math.hypot(Math.abs(x - centre) - radius, Math.max(0, y - foot));
}

/** From a point to the line in the middle. */
const toLine = (x: number, y: number): number => Math.hypot(x - centre, Math.max(18 - y, 0, y - foot));

/** How much of a pixel a line covers, by the distance of its center. */
const toCover = (distance: number): number => Math.min(1, Math.max(0, 0.5 - ((distance - halfLine) * sizePx) / units));

function toPixel(x: number, y: number, ground: Rgb): number[] {
  const white = toCover(Math.min(toArch(x, y, 9.5), toArch(x, y, 4.5)));
  const warm = toCover(toLine(x, y));
  return ground.map((value, at) =>
    Math.round(value * (1 - white - warm) + (cream[at] ?? 0) * white + (gold[at] ?? 0) * warm),
  );
}

function toChunk(type: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(content.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/**
 * The icon of a home screen as PNG, which iOS needs: Foyer's sign on the brand's color, without rounded corners, because
 * the system cuts them.
 * @param color `#rrggbb`
 */
export function drawTouchIcon(color: string): Buffer {
  const ground = toRgb(color);
  const toUnit = (pixel: number) => ((pixel + 0.5) * units) / sizePx;
  // Each row begins with its filter: none.
  const rowBytes = 1 + 3 * sizePx;
  const rows = Buffer.alloc(rowBytes * sizePx);
  for (let y = 0; y < sizePx; y += 1) {
    for (let x = 0; x < sizePx; x += 1) rows.set(toPixel(toUnit(x), toUnit(y), ground), y * rowBytes + 1 + 3 * x);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(sizePx, 0);
  header.writeUInt32BE(sizePx, 4);
  // Eight bits for each of red, green and blue.
  header.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    toChunk('IHDR', header),
    toChunk('IDAT', deflateSync(rows)),
    toChunk('IEND', new Uint8Array()),
  ]);
}
