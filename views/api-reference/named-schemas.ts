import type { ApiDocument, DocumentedCall, DocumentedContent, DocumentedSchema } from './document.ts';

const prefix = '#/components/schemas/';

/** The name of the schema to which this one refers. */
export const refName = ({ $ref }: DocumentedSchema): string | undefined =>
  $ref?.startsWith(prefix) ? $ref.slice(prefix.length) : undefined;

const isSchema = (value: unknown): value is DocumentedSchema => typeof value === 'object' && value !== null;

/** The names to which a schema refers, at any depth. */
function listRefs(schema: DocumentedSchema): string[] {
  const { properties = {}, items, anyOf = [], additionalProperties } = schema;
  const parts = [
    ...Object.values(properties),
    ...(items ? [items] : []),
    ...anyOf,
    ...(isSchema(additionalProperties) ? [additionalProperties] : []),
  ];
  return [refName(schema) ?? [], parts.flatMap(listRefs)].flat();
}

/** The first schema of a body or an answer: all media types have the same one. */
export const contentSchema = (content: DocumentedContent | undefined): DocumentedSchema | undefined =>
  Object.values(content ?? {})[0]?.schema;

export const listCalls = ({ paths }: ApiDocument): { path: string; method: string; call: DocumentedCall }[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]) => ({ path, method, call })),
  );

/** The problems that a call names, from the enumeration of its own problem schema. */
export function listCallProblemTypes({ components }: ApiDocument, { responses }: DocumentedCall): string[] {
  const types = Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .flatMap(([, { content }]) => {
      const schema = content['application/problem+json']?.schema;
      const named = schema && components.schemas[refName(schema) ?? ''];
      return (named ?? schema)?.properties?.type?.enum ?? [];
    });
  return [...new Set(types.map(String))];
}

/** Schemas of problems of one call: the page shows their causes at the call. */
const isProblemOfCall = (name: string, { properties }: DocumentedSchema): boolean =>
  name !== 'Problem' && name.endsWith('Problem') && properties?.instance !== undefined;

/**
 * Divides the named schemas: those that a single call has as its body or answer are shown there, and all others in a
 * section of their own.
 */
export function divideSchemas(document: ApiDocument): { atCalls: ReadonlySet<string>; others: readonly string[] } {
  const users = new Map<string, Set<string>>();
  const use = (user: string, schema: DocumentedSchema) => {
    for (const name of listRefs(schema)) users.set(name, (users.get(name) ?? new Set()).add(user));
  };
  const { schemas } = document.components;
  for (const [name, schema] of Object.entries(schemas)) use(`schema ${name}`, schema);
  const atTop = new Set<string>();
  for (const { call } of listCalls(document)) {
    const answers = Object.values(call.responses).map(({ content }) => content);
    for (const content of [call.requestBody?.content ?? {}, ...answers])
      for (const { schema } of Object.values(content)) use(call.operationId, schema);
    for (const content of [call.requestBody?.content, call.responses['200']?.content]) {
      const name = refName(contentSchema(content) ?? {});
      if (name !== undefined) atTop.add(name);
    }
  }
  const atCalls = new Set([...atTop].filter((name) => users.get(name)?.size === 1));
  const others = Object.entries(schemas)
    .filter(([name, schema]) => !atCalls.has(name) && !isProblemOfCall(name, schema))
    .map(([name]) => name);
  return { atCalls, others };
}
