/**
 * The files of the built client, from memory: hashed names that never change, in the encoding that the browser prefers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { RequestHandler } from 'express';

/** The encodings that the build produces, smallest first (RFC 9110, 8.4.1). */
const encodings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

interface StaticFile {
  plain: Buffer;
  packed: Array<{ encoding: string; content: Buffer }>;
}

/** A name with a hash of its content, as Vite creates it: neither the manifest nor the compressed files. */
const HASHED = /^[\w-]+-[\w-]{8}\.(?:css|js|svg|woff2)$/;

function readFiles(dir: string): Map<string, StaticFile> {
  const names = new Set(readdirSync(dir));
  const read = (name: string) => readFileSync(join(dir, name));
  return new Map(
    [...names]
      .filter((name) => HASHED.test(name))
      .map((name) => {
        const packed = encodings
          .filter(({ suffix }) => names.has(name + suffix))
          .map(({ name: encoding, suffix }) => ({ encoding, content: read(name + suffix) }));
        return [`/${name}`, { plain: read(name), packed }];
      }),
  );
}

/**
 * Answers GET and HEAD of the files that the folder had at the start. No request path ever reaches the file system, and
 * a later build removes nothing. Everything else is 404 (or 405).
 * @param dir the folder of Vite's output
 */
export function staticFiles(dir: string): RequestHandler {
  const files = readFiles(dir);
  return (req, res) => {
    const file = files.get(req.path);
    if (file === undefined) {
      res.status(404).type('text/plain').send('Not Found');
      return;
    }
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      res.status(405).set('Allow', 'GET, HEAD').type('text/plain').send('Method Not Allowed');
      return;
    }
    res.set('Cache-Control', 'public, max-age=31536000, immutable');
    res.type(extname(req.path));
    if (file.packed.length > 0) res.vary('Accept-Encoding');
    const packed = file.packed.find(({ encoding }) => req.acceptsEncodings(encoding));
    if (packed !== undefined) res.set('Content-Encoding', packed.encoding);
    const content = packed?.content ?? file.plain;
    res.set('Content-Length', String(content.length)).end(req.method === 'HEAD' ? undefined : content);
  };
}
