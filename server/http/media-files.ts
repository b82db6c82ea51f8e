/** Serves user pictures from a folder of the operator: only images, whatever else is in it. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RequestHandler, Response } from 'express';

const maxBytes = 10 * 1024 * 1024;
const maxCharacters = 300;
const maxAgeSeconds = 300;

/** A plain file name: no leading dot, no separator, no control character, and nothing that is decoded a second time. */
const plainName = /^[\p{L}\p{N}_][\p{L}\p{N}\p{M} _.@()+=,-]*$/u;

/** The folders and the file of a path below the folder of pictures; undefined if the path is unsafe. */
export function safePathParts(path: string): string[] | undefined {
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return undefined;
  }
  if (decoded.length > maxCharacters || !decoded.startsWith('/')) return undefined;
  const parts = decoded.slice(1).split('/');
  return parts.every((part) => plainName.test(part)) ? parts : undefined;
}

/**
 * The supported types of picture, detected by their first bytes; the file extension is not trusted. SVG is excluded
 * because it can contain scripts.
 */
const kinds: readonly { type: string; begins: (text: string) => boolean }[] = [
  { type: 'image/png', begins: (text) => text.startsWith('\x89PNG\r\n\x1a\n') },
  { type: 'image/jpeg', begins: (text) => text.startsWith('\xff\xd8\xff') },
  { type: 'image/gif', begins: (text) => /^GIF8[79]a/.test(text) },
  { type: 'image/webp', begins: (text) => text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP' },
  { type: 'image/avif', begins: (text) => /^ftypavi[fs]/.test(text.slice(4, 12)) },
];

export function toImageType(beginning: Buffer): string | undefined {
  const text = beginning.toString('latin1');
  return kinds.find(({ begins }) => begins(text))?.type;
}

/** The browser may keep the picture for a while, and run nothing in it. */
export function setPictureHeaders(res: Response, etag: string): void {
  res.set({
    'Cache-Control': `public, max-age=${maxAgeSeconds}`,
    'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    // The marketplace's other apps show the pictures too.
    'Cross-Origin-Resource-Policy': 'cross-origin',
    ETag: etag,
  });
}

interface Picture {
  handle: FileHandle;
  stats: Stats;
  type: string;
}

/**
 * Opens a picture; undefined if there is none. Symbolic links could lead out of the folder, so they are not followed.
 */
async function openPicture(dir: string, parts: readonly string[]): Promise<Picture | undefined> {
  let handle: FileHandle | undefined;
  try {
    const expected = join(await realpath(dir), ...parts);
    if ((await realpath(expected)) !== expected) return undefined;
    // O_NONBLOCK, so that a pipe does not block the open.
    handle = await open(expected, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > maxBytes) throw new Error('not a file that is served');
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, 0);
    const type = toImageType(buffer.subarray(0, bytesRead));
    if (type === undefined) throw new Error('not a picture');
    return { handle, stats, type };
  } catch {
    await handle?.close();
    return undefined;
  }
}

/** A client that reads nothing for this long would keep a file open for nothing. */
const stallMs = 30_000;

/**
 * Answers GET and HEAD of the pictures in a folder, each under its own name; everything else is 404 (or 405). The
 * content decides the media type, and headers forbid the browser to run any of it.
 * @param dir its content may change while the server runs
 * @param limits.stallMs how long an answer may make no progress
 */
export function mediaFiles(dir: string, limits = { stallMs }): RequestHandler {
  return async (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      res.status(405).set('Allow', 'GET, HEAD').type('text/plain').send('Method Not Allowed');
      return;
    }
    const parts = safePathParts(req.path);
    const picture = parts && (await openPicture(dir, parts));
    if (!picture) {
      res.status(404).type('text/plain').send('Not Found');
      return;
    }
    const { handle, stats, type } = picture;
    const etag = `"${stats.size.toString(36)}-${Math.trunc(stats.mtimeMs).toString(36)}"`;
    setPictureHeaders(res, etag);
    if (req.get('if-none-match') === etag) {
      await handle.close();
      res.status(304).end();
      return;
    }
    res.set({ 'Content-Type': type, 'Content-Length': String(stats.size) });
    if (req.method === 'HEAD') {
      await handle.close();
      res.end();
      return;
    }
    // Never more bytes than Content-Length, even if the file grows meanwhile. The stream closes the file.
    const end = Math.max(0, stats.size - 1);
    // Node measures progress of the receiver: a slow client continues, a stalled one is disconnected.
    res.setTimeout(limits.stallMs, () => res.destroy());
    // A client that disconnects early is not an error.
    await pipeline(handle.createReadStream({ start: 0, end }), res).catch(() => {});
  };
}
