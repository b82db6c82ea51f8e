import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';

const documentSeconds = 300;

/**
 * `GET /openapi.json`: text and compressed text are made once. Every origin may read it, because hosted viewers and
 * generators load it, and it is the same for every caller.
 */
export function serveDocument(document: object): RequestHandler {
  const plain = Buffer.from(JSON.stringify(document));
  const packed = gzipSync(plain, { level: 9 });
  const tag = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return (req, res) => {
    const isPacked = req.acceptsEncodings('gzip') === 'gzip';
    res
      .set({
        'Cache-Control': `public, max-age=${documentSeconds}`,
        'Access-Control-Allow-Origin': '*',
        ETag: `"${tag}${isPacked ? '-gzip' : ''}"`,
      })
      .vary('Accept-Encoding')
      .type('json');
    if (req.fresh) {
      res.status(304).end();
      return;
    }
    if (isPacked) res.set('Content-Encoding', 'gzip');
    const content = isPacked ? packed : plain;
    res.set('Content-Length', String(content.length)).end(req.method === 'HEAD' ? undefined : content);
  };
}
