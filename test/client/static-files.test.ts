import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import express from 'express';
import { securityHeaders, staticFiles } from '../../server/http/index.ts';

const script = `console.log(${JSON.stringify('x'.repeat(500))})`;
const font = Buffer.from([0x77, 0x4f, 0x46, 0x32, 0, 1, 2, 3]);

describe('static files', () => {
  let dir: string;
  let server: Server;
  let port: number;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'foyer-static-'));
    writeFileSync(join(dir, 'app-AbCd_f-1.js'), script);
    writeFileSync(join(dir, 'app-AbCd_f-1.js.br'), brotliCompressSync(script));
    writeFileSync(join(dir, 'app-AbCd_f-1.js.gz'), gzipSync(script));
    writeFileSync(join(dir, 'font-12345678.woff2'), font);
    writeFileSync(join(dir, 'look-12345678.css'), 'a{}');
    writeFileSync(join(dir, 'manifest.json'), '{}');
    writeFileSync(join(dir, '.secret'), 'secret');
    const app = express();
    app.use(securityHeaders({ https: true }));
    app.use('/assets', staticFiles(dir));
    server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(dir, { recursive: true, force: true });
  });

  /** The path as it stands: nothing between here and the server tidies it up. */
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<{ status: number | undefined; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path, headers, method, agent: false }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () =>
          resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }),
        );
      });
      asked.on('error', reject).end();
    });
  const app = '/assets/app-AbCd_f-1.js';

  it.each([
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['*', 'br'],
    ['BR', 'br'],
    ['deflate', undefined],
    ['identity', undefined],
    ['br;q=0, gzip;q=0', undefined],
    [undefined, undefined],
  ])('The request header Accept-Encoding %s is answered with %s', async (accepted, encoding) => {
    const { status, headers, body } = await ask(app, accepted === undefined ? {} : { 'Accept-Encoding': accepted });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': String(body.length),
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.etag).toBeUndefined();
    const plain = encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body;
    expect(plain.toString()).toBe(script);
  });

  it('A file with only one encoding has no Vary header', async () => {
    const woff2 = await ask('/assets/font-12345678.woff2', { 'Accept-Encoding': 'br' });
    expect(woff2.headers).toMatchObject({ 'content-type': 'font/woff2', 'content-length': '8' });
    expect(woff2.headers['content-encoding']).toBeUndefined();
    expect(woff2.headers.vary).toBeUndefined();
    expect(woff2.body.equals(font)).toBe(true);
    expect((await ask('/assets/look-12345678.css')).headers['content-type']).toBe('text/css; charset=utf-8');
  });

  it('The server answers HEAD like GET without a body, and refuses every other method', async () => {
    const head = await ask(app, { 'Accept-Encoding': 'br' }, 'HEAD');
    const get = await ask(app, { 'Accept-Encoding': 'br' });
    expect(head.status).toBe(200);
    expect(head.body.length).toBe(0);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect(head.headers['content-encoding']).toBe('br');
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await ask(app, {}, method);
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
    }
  });

  it('The server ignores ranges and sends the whole file', async () => {
    const { status, headers, body } = await ask(app, { Range: 'bytes=0-3' });
    expect(status).toBe(200);
    expect(headers['accept-ranges']).toBeUndefined();
    expect(body.length).toBe(script.length);
  });

  it.each([
    '/assets',
    '/assets/',
    '/assets/manifest.json',
    '/assets/.secret',
    '/assets/app-AbCd_f-1.js.br',
    '/assets/app-AbCd_f-1.js.gz',
    '/assets/app-AbCd_f-1.js/',
    '/assets/app-AbCd_f-1.js%00',
    '/assets/APP-AbCd_f-1.js',
    '/assets/app-AbCd_f-2.js',
    '/assets/constructor',
    '/assets/__proto__',
    '/assets/../package.json',
    '/assets/..%2f..%2fetc%2fpasswd',
    '/assets/%2e%2e/%2e%2e/etc/passwd',
    '/assets/..\\..\\etc\\passwd',
    '/assets//etc/passwd',
    '/assets/%',
  ])('Directory traversal, a listing or a missing file gets 404: %s', async (path) => {
    const { status, headers, body } = await ask(path, { 'Accept-Encoding': 'br' });
    expect(status).toBe(404);
    expect(headers['cache-control']).toBe('no-store');
    expect(body.toString()).not.toMatch(/secret|root:|"name"/);
  });

  it('The server continues to serve its first files while a build replaces the folder', async () => {
    rmSync(join(dir, 'look-12345678.css'));
    expect((await ask('/assets/look-12345678.css')).status).toBe(200);
  });
});
