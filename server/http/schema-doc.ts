import type { z } from 'zod';

/** A JSON Schema (draft 2020-12) of the OpenAPI document. */
export interface JsonSchema {
  [keyword: string]: unknown;
  type?: string | string[];
  enum?: unknown[];
  examples?: unknown[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  $ref?: string;
  description?: string;
  propertyNames?: JsonSchema;
}

/** An alias, because an interface has no index signature. */
type Doc = { description: string; examples?: unknown[] };

/** Description and example of a property, for `.meta()`. An enumeration and a boolean need no example. */
export const doc = (description: string, ...examples: unknown[]): Doc =>
  examples.length === 0 ? { description } : { description, examples };

/** Keyword of `describedAs`. */
export const replacement = 'x-described-as';

/**
 * For `.meta()`: the document shows this type alone, and the call accepts more. Typed clients cannot be generated from
 * a union of a text and a number or a list.
 */
export const describedAs = (schema: JsonSchema) => ({ [replacement]: schema });

/** The same object with a description for each of its properties. */
export function withDocs<Shape extends z.ZodRawShape, Config extends z.core.$ZodObjectConfig>(
  schema: z.ZodObject<Shape, Config>,
  docs: Readonly<Record<keyof Shape & string, Doc>>,
): z.ZodObject<Shape, Config> {
  const properties = Object.entries<z.core.SomeType>(schema.shape).map(([name, property]) => [
    name,
    (property as z.ZodType).meta(docs[name as keyof Shape & string]),
  ]);
  return schema.clone({ ...schema.def, shape: Object.fromEntries(properties) as Shape });
}

/** Keyword of `shownAsRequired`. */
export const requiredMark = 'x-shown-as-required';

/** For `.meta()`: the document demands the field, and the call refuses its absence with a text of its own. */
export const shownAsRequired = { [requiredMark]: true };

/** A decimal text, which no floating-point number of a client changes. */
export const decimalText: JsonSchema = {
  type: 'string',
  pattern: '^\\d{1,9}(\\.\\d{1,2})?$',
  maxLength: 12,
};
