import type { Request } from 'express';
import { HttpError } from './errors.ts';

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
