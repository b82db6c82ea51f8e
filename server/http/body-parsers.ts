import { isUtf8 } from 'node:buffer';
import express, { type RequestHandler } from 'express';
import { HttpError } from './errors.ts';

/** The bytes that a percent-encoded text stands for. */
function percentDecoded(body: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(body.length);
  let length = 0;
  for (let at = 0; at < body.length; at += 1) {
    const hex = body[at] === 0x25 ? body.toString('latin1', at + 1, at + 3) : '';
    const isEncoded = /^[0-9a-f]{2}$/i.test(hex);
    bytes[length] = isEncoded ? Number.parseInt(hex, 16) : (body[at] ?? 0);
    length += 1;
    if (isEncoded) at += 2;
  }
  return bytes.subarray(0, length);
}

/** Otherwise the parsers put U+FFFD where they cannot read on, and what is stored is not what was sent (RFC 8259, section 8.1). */
function onlyUtf8(body: Buffer, charset: string): void {
  if (charset.toLowerCase() !== 'utf-8')
    throw new HttpError('unsupportedType', { detail: 'charset of the body is not supported' });
  if (!isUtf8(body)) throw new HttpError('badRequest', { detail: 'the body is not UTF-8' });
}
const json = () =>
  express.json({ limit: '16kb', strict: true, verify: (_req, _res, body, charset) => onlyUtf8(body, charset) });
const form = () =>
  express.urlencoded({
    ...{ extended: false, limit: '16kb', parameterLimit: 50 },
    verify: (_req, _res, body, charset) => onlyUtf8(percentDecoded(body), charset),
  });

/** JSON alone, of at most 16 KiB: for the calls of the API. */
export function jsonBody(): RequestHandler[] {
  const known: RequestHandler = (req, _res, next) => {
    // null: there is no body, which the call's description then misses.
    if (req.is('application/json') === false)
      throw new HttpError('unsupportedType', { detail: 'content type of the body is not supported' });
    next();
  };
  return [known, json()];
}

/** Forms and JSON of at most 16 KiB and 50 fields; no form of ours comes near. Any other kind of body is refused. */
export function bodies(): RequestHandler[] {
  const known: RequestHandler = (req, _res, next) => {
    const type = req.is(['application/x-www-form-urlencoded', 'application/json']);
    // null: there is no body; one of no bytes is none either, and browsers' scripts send such without a type.
    if (type === false && req.get('content-length') !== '0')
      throw new HttpError('unsupportedType', { detail: 'content type of the body is not supported' });
    next();
  };
  return [known, form(), json()];
}
