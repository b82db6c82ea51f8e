import type { Request, Response } from 'express';
import { z } from 'zod';
import { HttpError } from './errors.ts';

/** Names the fields of a request that its call does not know. */
const ignoredFieldsHeader = 'Foyer-Ignored-Fields';

const maxNamed = 10;
/** Other names are not repeated in a header. */
const plainName = /^[\w.:-]{1,80}$/;

/**
 * The fields of a value that an object schema does not name, with their paths. A schema that refuses unknown fields
 * itself, and one that takes any name, have none.
 */
export function findUnknownFields(schema: z.ZodType | undefined, value: unknown, path: string): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return findUnknownFields(schema.unwrap() as z.ZodType, value, path);
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.flatMap((one, n) => findUnknownFields(schema.element as z.ZodType, one, `${path}.${n}`));
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null || Array.isArray(value))
    return [];
  const shape: Readonly<Record<string, z.ZodType>> = schema.shape;
  return Object.entries(value).flatMap(([name, one]) =>
    Object.hasOwn(shape, name)
      ? findUnknownFields(shape[name], one, `${path}.${name}`)
      : schema.def.catchall === undefined
        ? [`${path}.${name}`]
        : [],
  );
}

/** RFC 7240, section 4.4. */
const wantsStrict = (req: Request): boolean =>
  (req.get('prefer') ?? '').split(/[,;]/).some((one) => /^\s*handling\s*=\s*"?strict"?\s*$/i.test(one));

/**
 * Every call ignores fields that it does not know, because callers of older versions send more, and names them in a
 * header of the answer; with `Prefer: handling=strict` they are refused.
 * @throws {HttpError} refused
 */
export function reportUnknownFields(req: Request, res: Response, unknown: readonly string[]): void {
  const isStrict = wantsStrict(req);
  if (isStrict) res.set('Preference-Applied', 'handling=strict');
  const named = unknown.filter((name) => plainName.test(name)).slice(0, maxNamed);
  if (unknown.length === 0) return;
  if (!isStrict) return void (named.length > 0 && res.set(ignoredFieldsHeader, named.join(', ')));
  const invalidParams = named.map((name) => ({ name, detail: 'is no field of this call' }));
  throw new HttpError('validation', { detail: named.join(', '), invalidParams });
}
