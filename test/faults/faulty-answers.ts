import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** One way in which a service at the other end of a connection answers wrongly, or not at all. */
export type Fault = (res: ServerResponse) => void;

const page = '<!doctype html><html><head><title>Maintenance</title></head><body><h1>Back soon</h1></body></html>';
const json = { 'content-type': 'application/json' };

const answering =
  (status: number, body: string, headers: Record<string, string> = json): Fault =>
  (res) =>
    void res.writeHead(status, headers).end(body);

/** Answers until the other end goes away. */
function sendEndless(res: ServerResponse): void {
  res.writeHead(200, json).write('{"padding":"');
  const piece = 'x'.repeat(65_536);
  const more = () => {
    while (!res.destroyed && res.write(piece));
    if (!res.destroyed) res.once('drain', more);
  };
  more();
}

let packed: Buffer | undefined;

/** 20 MB in 20 kB. */
function sendPacked(res: ServerResponse): void {
  packed ??= gzipSync(Buffer.concat([Buffer.from('{"padding":"'), Buffer.alloc(20_000_000, 'x'), Buffer.from('"}')]));
  res.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(packed);
}

function sendHalf(res: ServerResponse): void {
  res.writeHead(200, { ...json, 'content-length': '5000' });
  res.write('{"access_token":"half of a', () => res.destroy());
}

function drip(res: ServerResponse): void {
  res.writeHead(200, json).write('{');
  const timer = setInterval(() => res.write(' '), 250);
  res.once('close', () => clearInterval(timer));
}

/** Those that end at once. */
export const quickFaults = {
  'ends the connection': (res) => res.destroy(),
  'ends the connection in the middle of its answer': sendHalf,
  'answers what is not HTTP': (res) => void res.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'),
  'answers 500 with a page': answering(500, page, { 'content-type': 'text/html' }),
  'answers 502 with a page': answering(502, page, { 'content-type': 'text/html' }),
  'answers 200 with a page': answering(200, page, { 'content-type': 'text/html' }),
  'answers 200 with a page that it calls JSON': answering(200, page),
  'answers 200 with nothing': answering(200, ''),
  'answers 204': (res) => void res.writeHead(204).end(),
  'answers half of a JSON text': answering(200, '{"access_token":"abc'),
  'answers null': answering(200, 'null'),
  'answers a list': answering(200, '[{}]'),
  'answers members of wrong types': answering(
    200,
    '{"access_token":{},"id_token":7,"token_type":[],"sub":{},"id":[],"user_id":{},"email":7,"name":{},"issuer":[],"keys":{}}',
  ),
  'answers a JSON text 20,000 levels deep': answering(200, `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`),
  'never ends its answer': sendEndless,
  'answers 20 MB that are packed into 20 kB': sendPacked,
  'answers what it wrongly calls packed': answering(200, '{}', { ...json, 'content-encoding': 'gzip' }),
  'redirects to itself': (res) => void res.writeHead(307, { location: res.req.url ?? '/' }).end(),
} satisfies Record<string, Fault>;

/** Those that only a limit of time ends. */
export const slowFaults = {
  'never answers': () => {},
  'answers a byte at a time': drip,
} satisfies Record<string, Fault>;
