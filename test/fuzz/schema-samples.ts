import type { Random } from './random.ts';

/** The parts of a JSON schema that are read; for all others the value is arbitrary. */
interface Schema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  format?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  minimum?: number;
  maxLength?: number;
}

const texts: Record<string, string> = {
  email: 'someone@example.com',
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  uri: 'https://example.com/',
};

/** A value that fits a JSON schema, as the start of a mutation. */
export function sampleOf(random: Random, given: unknown): unknown {
  const schema = (given ?? {}) as Schema;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined && choices.length > 0) return sampleOf(random, random.pick(choices));
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema.type === 'object' || schema.properties !== undefined) {
    const properties = Object.entries(schema.properties ?? {}).filter(() => !random.oneIn(5));
    return Object.fromEntries(properties.map(([name, property]) => [name, sampleOf(random, property)]));
  }
  if (schema.type === 'array') return Array.from({ length: random.below(3) }, () => sampleOf(random, schema.items));
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? random.below(100);
  if (schema.type === 'boolean') return random.oneIn(2);
  if (schema.type === 'null') return null;
  return texts[schema.format ?? ''] ?? random.pick(['abc', 'someone@example.com', '123456', 'https://example.com/']);
}
