import type { Request } from 'express';
import { HttpError } from './errors.ts';

/** A form's or JSON body's fields; a body that is not an object of fields has none. */
function body(req: Request): Record<string, unknown> {
  return typeof req.body === 'object' && req.body !== null && !Array.isArray(req.body) ? req.body : {};
}

/**
 * One text field of the body, '' when absent.
 * @throws {HttpError} badRequest when it is given twice or is not text
 */
export function field(req: Request, name: string): string {
  const value = Object.hasOwn(body(req), name) ? body(req)[name] : undefined;
  if (value === undefined) return '';
  if (typeof value !== 'string') throw new HttpError('badRequest', { detail: `field ${name} is not one text` });
  return value;
}

/** One query parameter, undefined when absent; given twice it is refused. */
export function query(req: Request, name: string): string | undefined {
  const value = req.query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new HttpError('badRequest', { detail: `query parameter ${name} given more than once` });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;

/** Text that no field of a form can hold by typing: too long for the field, or with control characters. */
export function malformed(value: string, mostCharacters: number): boolean {
  return value.length > mostCharacters || controlCharacters.test(value) || !value.isWellFormed();
}
