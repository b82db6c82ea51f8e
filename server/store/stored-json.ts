import { z } from 'zod';

/** Stored text has an unexpected form: a fault, or a change by someone with write access to the store. */
export class StoredDataInvalid extends Error {
  override name = 'StoredDataInvalid';
}

/**
 * Reads JSON that Foyer has stored.
 * @throws {StoredDataInvalid} its message names the properties and never their values, which may be secret
 */
export function parseStored<T>(schema: z.ZodType<T>, text: string): T {
  const result = schema.safeParse(parseJson(text));
  if (result.success) return result.data;
  const places = result.error.issues.map(({ path, code }) => `${path.join('.') || 'the whole'} (${code})`);
  throw new StoredDataInvalid(`Stored JSON does not match its schema: ${places.join(', ')}`);
}

/**
 * The schema of a value whose type is declared elsewhere (a library, a union of many forms).
 * @param schema describes the properties on which its reader depends; the value itself stays as it was stored
 */
export const checkedAs = <T>(schema: z.ZodType): z.ZodType<T> =>
  z.custom<T>((value) => schema.safeParse(value).success);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without the cause: its message repeats a part of the text.
    throw new StoredDataInvalid('Stored text is not JSON');
  }
}

/**
 * A schema that also reads records of the previous release, in which properties had other names.
 * @param names the name of the previous release, and today's
 */
export function acceptFormerNames<S extends z.ZodType>(schema: S, names: Record<string, string>) {
  return z.preprocess((value) => {
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, content]) => [names[name] ?? name, content]));
  }, schema);
}
