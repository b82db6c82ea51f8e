/** Members' pictures out of a folder of the operator's: images alone, whatever else lies there. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RequestHandler } from 'express';

const maxBytes = 10 * 1024 * 1024;
const maxCharacters = 300;
const maxAgeSeconds = 300;

/** A name that hides nothing: no dot at its beginning, no separator, no control character, nothing that is decoded again. */
const plainName = /^[\p{L}\p{N}_][\p{L}\p{N}\p{M} _.@()+=,-]*$/u;

/** The folders and the file that a path names, below the folder of the pictures; undefined: nothing that is served. */
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

/** The kinds of picture that are served, by how their files begin; a name's ending says nothing. SVG can hold scripts. */
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

interface Picture {
  handle: FileHandle;
  stats: Stats;
  type: string;
}

/** Opens a picture; undefined: there is none. Links lead out of the folder, so none is followed. */
async function openPicture(dir: string, parts: readonly string[]): Promise<Picture | undefined> {
  let handle: FileHandle | undefined;
  try {
    const expected = join(await realpath(dir), ...parts);
    if ((await realpath(expected)) !== expected) return undefined;
    // Not to wait for whoever writes into a pipe.
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

/** A reader who takes nothing for so long holds an open file for nothing. */
const stallMs = 30_000;

/**
 * Answers GET and HEAD of the pictures in a folder, each under its own name; everything else is 404 (or 405). What the file
 * holds decides its type, and the browser is told to run nothing of it.
 * @param dir may be filled while we run
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
    res.set({
      'Cache-Control': `public, max-age=${maxAgeSeconds}`,
      'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      // The marketplace's other apps show them too.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      ETag: etag,
    });
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
    // Not further than what was announced, also when the file grows meanwhile. The stream closes the file.
    const end = Math.max(0, stats.size - 1);
    // Node looks at what the other side has taken: a slow reader is not cut, one who has stopped is.
    res.setTimeout(limits.stallMs, () => res.destroy());
    // A visitor who leaves half-way is no fault.
    await pipeline(handle.createReadStream({ start: 0, end }), res).catch(() => {});
  };
}
