import type { Request } from 'express';
import { HttpError } from './errors.ts';

/** A form's or JSON body's fields; a body that is not an object of fields has none. */
function readBody(req: Request): Record<string, unknown> {
  return typeof req.body === 'object' && req.body !== null && !Array.isArray(req.body) ? req.body : {};
}

/**
 * One text field of the body, '' when absent.
 * @throws {HttpError} badRequest when it is given twice or is not text
 */
export function readFormField(req: Request, name: string): string {
  const value = Object.hasOwn(readBody(req), name) ? readBody(req)[name] : undefined;
  if (value === undefined) return '';
  if (typeof value !== 'string') throw new HttpError('badRequest', { detail: `field ${name} is not one text` });
  return value;
}

/** One query parameter, undefined when absent; given twice it is refused. */
export function readQueryParam(req: Request, name: string): string | undefined {
  const value = req.query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new HttpError('badRequest', { detail: `query parameter ${name} given more than once` });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;
/** They begin a line (U+2028, U+2029) or turn the direction of what stands behind them (Unicode UAX #9, section 2). */
const steeringCharacters = /[\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
const everySteering = new RegExp(steeringCharacters, 'gu');

/**
 * Text that no field of one line can hold by typing: too long for the field, or with characters that control, begin a line or
 * turn its direction.
 */
export function isMalformed(value: string, maxCharacters: number): boolean {
  return malformedSecret(value, maxCharacters) || steeringCharacters.test(value);
}

/** The same for what is never shown, where members may have such characters already: passwords. */
export function malformedSecret(value: string, maxCharacters: number): boolean {
  return value.length > maxCharacters || controlCharacters.test(value) || !value.isWellFormed();
}

/** A stored text for one line of a page: names from before or from providers may hold what `malformed` refuses. */
export const withoutSteering = (text: string): string => text.replace(everySteering, '');
