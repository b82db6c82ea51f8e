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

/**
 * Without this check the parsers replace invalid bytes with U+FFFD, and the stored text would differ from the sent text
 * (RFC 8259, section 8.1).
 */
function onlyUtf8(body: Buffer, charset: string): void {
  if (charset.toLowerCase() !== 'utf-8')
    throw new HttpError('unsupportedType', { detail: 'charset of the body is not supported' });
  if (!isUtf8(body)) throw new HttpError('badRequest', { detail: 'the body is not UTF-8' });
}
const json = () =>
  express.json({ limit: '16kb', strict: true, verify: (_req, _res, body, charset) => onlyUtf8(body, charset) });
const form = () =>
  express.urlencoded({
    extended: false,
    limit: '16kb',
    parameterLimit: 50,
    verify: (_req, _res, body, charset) => onlyUtf8(percentDecoded(body), charset),
  });

/** Accepts only JSON of at most 16 KiB, for the API calls. */
export function jsonBody(): RequestHandler[] {
  const known: RequestHandler = (req, _res, next) => {
    // null: the request has no body. The schema of the call then reports the missing input.
    if (req.is('application/json') === false)
      throw new HttpError('unsupportedType', { detail: 'content type of the body is not supported' });
    next();
  };
  return [known, json()];
}

/**
 * Accepts forms and JSON of at most 16 KiB and 50 fields, which is more than any form needs. Rejects other media types.
 */
export function bodies(): RequestHandler[] {
  const known: RequestHandler = (req, _res, next) => {
    const type = req.is(['application/x-www-form-urlencoded', 'application/json']);
    // null: the request has no body. An empty body also counts as none: scripts in browsers send it without a media
    // type.
    if (type === false && req.get('content-length') !== '0')
      throw new HttpError('unsupportedType', { detail: 'content type of the body is not supported' });
    next();
  };
  return [known, form(), json()];
}
