import { toImageType } from '../../http/index.ts';
import { type CleanImage, ImageFault } from './image.ts';
import { cleanJpeg } from './jpeg.ts';
import { cleanPng } from './png.ts';
import { cleanWebp } from './webp.ts';

/** The supported kinds, by what their first bytes say. */
const cleaners: Readonly<Record<CleanImage['type'], (bytes: Buffer) => Buffer>> = {
  'image/jpeg': cleanJpeg,
  'image/png': cleanPng,
  'image/webp': cleanWebp,
};
const isSupported = (type: string | undefined): type is CleanImage['type'] =>
  type !== undefined && Object.hasOwn(cleaners, type);

/** The picture of a file, without its metadata; undefined if the file is no picture of a supported kind. */
export function cleanImage(file: Buffer): CleanImage | undefined {
  const type = toImageType(file.subarray(0, 16));
  if (!isSupported(type)) return undefined;
  try {
    return { type, bytes: cleaners[type](file) };
  } catch (error) {
    if (error instanceof ImageFault) return undefined;
    throw error;
  }
}
