import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';

const publicSeconds = 300;

/** An answer that is the same for every caller and holds no secret, so that it may be compressed and cached. */
interface PublicAnswer {
  /** For `res.type`. */
  type: 'json' | 'html';
  text: string;
  headers?: Readonly<Record<string, string>>;
}

function pack({ text, ...answer }: PublicAnswer) {
  const plain = Buffer.from(text);
  const tag = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return { ...answer, plain, gzipped: gzipSync(plain, { level: 9 }), tag };
}

/** Answers GET and HEAD. @param make is called once, for the first request: text and compressed text are kept */
export function servePublicly(make: () => PublicAnswer): RequestHandler {
  let packed: ReturnType<typeof pack> | undefined;
  return (req, res) => {
    packed ??= pack(make());
    const { type, headers = {}, plain, gzipped, tag } = packed;
    const isPacked = req.acceptsEncodings('gzip') === 'gzip';
    res
      .set({
        'Cache-Control': `public, max-age=${publicSeconds}`,
        ETag: `"${tag}${isPacked ? '-gzip' : ''}"`,
        ...headers,
      })
      .vary('Accept-Encoding')
      .type(type);
    if (req.fresh) {
      res.status(304).end();
      return;
    }
    if (isPacked) res.set('Content-Encoding', 'gzip');
    const content = isPacked ? gzipped : plain;
    res.set('Content-Length', String(content.length)).end(req.method === 'HEAD' ? undefined : content);
  };
}

/** `GET /openapi.json`. Every origin may read it, because hosted viewers and generators load it. */
export const serveDocument = (describe: () => object): RequestHandler =>
  servePublicly(() => ({
    type: 'json',
    text: JSON.stringify(describe()),
    headers: { 'Access-Control-Allow-Origin': '*' },
  }));
