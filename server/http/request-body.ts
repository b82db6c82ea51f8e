import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
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
    // null: the request has no body; an empty one counts as none. The schema of the call then reports missing input.
    if (req.is('application/json') === false && req.get('content-length') !== '0')
      throw new HttpError('unsupportedType', { detail: 'content type of the body is not supported' });
    next();
  };
  return [known, json()];
}

/**
 * Accepts forms and JSON of at most 16 KiB and 50 fields, which is more than any form needs. Rejects other media types.
 * @param uploadPaths a form with a file may be sent there; its handler reads it (`readUpload`) when it knows the sender
 */
export function bodies(uploadPaths: ReadonlySet<string> = new Set()): RequestHandler[] {
  const known: RequestHandler = (req, _res, next) => {
    if (uploadPaths.has(req.path) && isUpload(req)) return next();
    const type = req.is(['application/x-www-form-urlencoded', 'application/json']);
    // null: the request has no body. An empty body also counts as none: scripts in browsers send it without a media
    // type.
    if (type === false && req.get('content-length') !== '0')
      throw new HttpError('unsupportedType', { detail: 'content type of the body is not supported' });
    next();
  };
  return [known, form(), json()];
}

/** Tests for a form with a file (RFC 7578). */
export const isUpload = (req: Request): boolean => typeof req.is('multipart/form-data') === 'string';

/** The fields of a form or JSON body; none if the body is not an object. */
function readBody(req: Request): Record<string, unknown> {
  return typeof req.body === 'object' && req.body !== null && !Array.isArray(req.body) ? req.body : {};
}

/**
 * One text field of the body, '' if absent.
 * @throws {HttpError} badRequest if it is repeated or is not text
 */
export function readFormField(req: Request, name: string): string {
  const value = Object.hasOwn(readBody(req), name) ? readBody(req)[name] : undefined;
  if (value === undefined) return '';
  if (typeof value !== 'string') throw new HttpError('badRequest', { detail: `field ${name} is not one text` });
  return value;
}

/** One query parameter, undefined if absent. A repeated parameter is an error. */
export function readQueryParam(req: Request, name: string): string | undefined {
  const value = req.query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new HttpError('badRequest', { detail: `query parameter ${name} given more than once` });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;
/**
 * Characters that start a line (U+2028, U+2029) or change the direction of the text after them (Unicode UAX #9, section
 * 2).
 */
const steeringCharacters = /[\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
const everySteering = new RegExp(steeringCharacters, 'gu');

/**
 * Tests for text that cannot be typed into a one-line field: too long, or with control characters, line separators or
 * direction marks.
 */
export function isMalformed(value: string, maxCharacters: number): boolean {
  return malformedSecret(value, maxCharacters) || steeringCharacters.test(value);
}

/** The same test for passwords. They are never displayed, and users may already have such characters in them. */
export function malformedSecret(value: string, maxCharacters: number): boolean {
  return value.length > maxCharacters || controlCharacters.test(value) || !value.isWellFormed();
}

/**
 * Makes a stored text safe for one line of a page: old names and names from providers may contain characters that
 * `isMalformed` rejects.
 */
export const withoutSteering = (text: string): string => text.replace(everySteering, '');
