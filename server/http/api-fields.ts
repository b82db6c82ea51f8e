import { z } from 'zod';
import { describedAs } from './schema-doc.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const acceptsNull = (schema: unknown): boolean => schema instanceof z.ZodType && schema.isNullable();

/** Tests whether every field of a body is optional. */
export const acceptsNoFields = (schema: z.ZodType): boolean => schema.safeParse({}).success;

/** The entries of an object without the nulls that `isAbsent` names; the object itself if there are none. */
function withoutEntries(
  value: Record<string, unknown>,
  inner: (name: string) => unknown,
  isAbsent: (schema: unknown) => boolean,
): Record<string, unknown> {
  const entries = Object.entries(value).flatMap(([name, one]): [string, unknown][] => {
    const schema = inner(name);
    if (one === null && isAbsent(schema)) return [];
    return [[name, schema instanceof z.ZodType ? nullsAsAbsent(schema, one) : one]];
  });
  return Object.fromEntries(entries);
}

/**
 * Answers have null for a value that is missing, so a call accepts null for each optional field as if the field were
 * absent. A field whose schema accepts null keeps it: there null has a meaning of its own.
 */
export function nullsAsAbsent(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional) return nullsAsAbsent(schema.unwrap() as z.ZodType, value);
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((one) => nullsAsAbsent(schema.element as z.ZodType, one));
  }
  if (!isObject(value)) return value;
  if (schema instanceof z.ZodObject) {
    const shape: Record<string, unknown> = schema.shape;
    const inner = (name: string) => (Object.hasOwn(shape, name) ? shape[name] : undefined);
    const isOptional = (field: unknown) => field instanceof z.ZodType && field.isOptional() && !acceptsNull(field);
    return withoutEntries(value, inner, isOptional);
  }
  if (schema instanceof z.ZodRecord) {
    const { valueType } = schema;
    return withoutEntries(
      value,
      () => valueType,
      () => !acceptsNull(valueType),
    );
  }
  return value;
}

const numberAsText = (value: unknown) => (Number.isSafeInteger(value) ? String(value) : value);

/** The id of something; a whole number is accepted as its digits. zod omits examples of `.meta()` for a transformed input. */
export const idField = <Schema extends z.ZodType<unknown, string | null>>(schema: Schema, example: string) =>
  z
    .unknown()
    .transform(numberAsText)
    .pipe(schema)
    .meta(describedAs({ type: 'string', maxLength: 100, examples: [example] }));

const flagTexts: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** true or false, also as text. */
export const flagField = () =>
  z
    .unknown()
    .transform((value) => flagTexts.get(value) ?? value)
    .pipe(z.boolean())
    .meta(describedAs({ type: 'boolean' }));
