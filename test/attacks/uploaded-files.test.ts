import { crc32 } from 'node:zlib';
import { cleanImage } from '../../server/users/index.ts';
import { jpegPicture, jpegSegment, pngPicture, webpPicture, withSegments } from '../support/pictures.ts';

const pictures = [
  { type: 'image/jpeg', picture: jpegPicture },
  { type: 'image/png', picture: pngPicture },
  { type: 'image/webp', picture: webpPicture },
];

const clean = (file: Buffer): Buffer => {
  const image = cleanImage(file);
  if (!image) throw new Error('the picture was refused');
  return image.bytes;
};

/** EXIF of a phone: the orientation, and a text where the place is. */
function exif(orientation: number, text: string): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('II*\0', 'latin1');
  tiff.writeUInt32LE(8, 4);
  tiff.writeUInt16LE(1, 8);
  tiff.writeUInt16LE(0x0112, 10);
  tiff.writeUInt16LE(3, 12);
  tiff.writeUInt32LE(1, 14);
  tiff.writeUInt16LE(orientation, 18);
  return jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff, Buffer.from(text)]));
}

function pngChunk(name: string, data: Buffer): Buffer {
  const part = Buffer.concat([Buffer.from(name), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(part));
  return Buffer.concat([length, part, sum]);
}

function withWebpChunk(name: string, data: Buffer): Buffer {
  const head = Buffer.from(`${name}\0\0\0\0`, 'latin1');
  head.writeUInt32LE(data.length, 4);
  const file = Buffer.concat([webpPicture, head, data]);
  file.writeUInt32LE(file.length - 8, 4);
  return file;
}

describe('the file of an uploaded picture', () => {
  it.each(pictures)(
    'A plain picture of type $type is kept, and cleaning it again changes nothing',
    ({ type, picture }) => {
      const image = cleanImage(picture);
      expect(image?.type).toBe(type);
      expect(clean(clean(picture))).toEqual(clean(picture));
      expect(Math.abs(clean(picture).length - picture.length)).toBeLessThan(40);
    },
  );

  it('Attack: the place of a photo, its device and texts in it reach no reader', () => {
    const secret = 'N 52 31 12 SECRET-PLACE';
    const files = [
      withSegments(
        jpegPicture,
        exif(6, secret),
        jpegSegment(0xfe, Buffer.from(secret)),
        jpegSegment(0xed, Buffer.from(secret)),
      ),
      Buffer.concat([
        pngPicture.subarray(0, 33),
        pngChunk('tEXt', Buffer.from(`Comment\0${secret}`)),
        pngChunk('eXIf', Buffer.from(secret)),
        pngPicture.subarray(33),
      ]),
      withWebpChunk('EXIF', Buffer.from(`${secret}!`)),
      withWebpChunk('XMP ', Buffer.from(`${secret}!`)),
    ];
    for (const file of files) {
      expect(file.includes('SECRET-PLACE')).toBe(true);
      expect(clean(file).includes('SECRET-PLACE')).toBe(false);
    }
  });

  it('A photo of a phone keeps its orientation, alone of its metadata', () => {
    const cleaned = clean(withSegments(jpegPicture, exif(6, 'x'.repeat(500))));
    expect(cleaned.length - clean(jpegPicture).length).toBe(36);
    expect(cleaned.subarray(6, 12).toString('latin1')).toBe('Exif\0\0');
    expect(cleaned.readUInt16BE(12 + 18)).toBe(6);
  });

  it.each(pictures)('Attack: a page behind a picture of type $type is cut off', ({ picture }) => {
    const page = Buffer.from('<!doctype html><script>alert(1)</script>');
    expect(clean(Buffer.concat([picture, page]))).toEqual(clean(picture));
  });

  it('Attack: a page, an SVG, a GIF and text under the first bytes of a picture are refused', () => {
    const script = '<script>alert(1)</script>';
    const starts = [
      '',
      'GIF89a',
      '<svg xmlns="http://www.w3.org/2000/svg">',
      '\xff\xd8\xff',
      '\x89PNG\r\n\x1a\n',
      'RIFF\0\0\0\0WEBP',
    ];
    for (const start of starts) {
      expect([start, cleanImage(Buffer.from(start + script.repeat(20), 'latin1'))]).toEqual([start, undefined]);
    }
  });

  it('Attack: a small file that stands for a huge picture is refused', () => {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(60_000, 0);
    header.writeUInt32BE(60_000, 4);
    header.set([8, 2], 8);
    const png = Buffer.concat([pngPicture.subarray(0, 8), pngChunk('IHDR', header), pngPicture.subarray(33)]);
    const jpeg = Buffer.from(jpegPicture);
    jpeg.writeUInt16BE(60_000, jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 5);
    const canvas = Buffer.from([0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    for (const file of [png, jpeg, withWebpChunk('VP8X', canvas)]) expect(cleanImage(file)).toBeUndefined();
  });

  it.each(pictures)(
    'Attack: a file of type $type that ends anywhere, or has any byte changed, ends no process',
    ({ picture }) => {
      for (let end = 0; end < picture.length - 1; end += 1) {
        const cut = cleanImage(picture.subarray(0, end));
        // Of a WebP only the padding may be missing.
        expect([end, cut]).toEqual([end, undefined]);
      }
      for (let at = 0; at < picture.length; at += 1) {
        for (const value of [0x00, 0x7f, 0xff]) {
          const changed = Buffer.from(picture);
          changed[at] = value;
          expect(() => cleanImage(changed)).not.toThrow();
        }
      }
    },
  );

  it('Attack: a megabyte of markers and restarts is read in less than a second', () => {
    const end = jpegPicture.length - 2;
    const data = Buffer.alloc(1_000_000, Buffer.from([0xff, 0xd0, 0xff, 0x00]));
    const before = performance.now();
    clean(Buffer.concat([jpegPicture.subarray(0, end), data, jpegPicture.subarray(end)]));
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});
