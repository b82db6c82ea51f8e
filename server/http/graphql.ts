import type { Request } from 'express';
import { z } from 'zod';
import type { ApiAccess } from './access.ts';
import { type ApiOperation, parseInput } from './api-operation.ts';
import type { Engine } from './graphql-engine.ts';

/** `req` is for `principalOf`. */
export type GraphqlContext = { req: Request };

/** What is wrong with a call, in words for its caller. */
export class GraphqlError extends Error {
  override name = 'GraphqlFault';
}

/** Answers a field of the schema's `Query`. @throws {GraphqlError} told to the caller; anything else is an error of ours */
export type Resolver = (args: never, context: GraphqlContext) => Promise<unknown>;

export interface GraphqlSettings {
  /** In GraphQL's own language. */
  schema: string;
  resolvers: Record<string, Resolver>;
  /** The rule of access of each field, as `Type.field`; every field of the schema has a rule. */
  fields: Readonly<Record<string, ApiAccess>>;
  /** Whether callers may ask for the schema. */
  introspection: boolean;
}

interface GraphqlDescription extends GraphqlSettings {
  path: string;
  id: string;
  summary: string;
  access: ApiAccess;
  /** What `data` can hold. */
  data: z.ZodType;
}

/** GraphQL over HTTP (draft of 2025), section 5.1; one request, never a list of them. */
const request = z.object({
  query: z.string().describe('One operation, without aliases'),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  extensions: z.record(z.string(), z.unknown()).nullish(),
});

const errors = z.array(
  z.object({
    message: z.string(),
    locations: z.array(z.object({ line: z.int(), column: z.int() })).optional(),
    path: z.array(z.union([z.string(), z.int()])).optional(),
  }),
);

const graphqlType = 'application/graphql-response+json';

/**
 * A GraphQL endpoint as a call of the JSON API: the same guard, limits, bodies and errors. It takes POST and JSON alone, one
 * operation without aliases, of a bounded size; where introspection is off, nothing of the schema is told by the way either.
 */
export function graphqlOperation({ path, id, summary, access, data, ...settings }: GraphqlDescription): ApiOperation {
  let engine: Promise<Engine> | undefined;
  const load = async () => (await import('./graphql-engine.ts')).createEngine(settings);
  return {
    ...{ method: 'post', path, id, summary, access },
    body: request,
    answer: z.object({ data: data.nullish(), errors: errors.optional() }),
    alsoAs: [graphqlType],
    async respond(req, res) {
      const params = parseInput(request, req.body, 'body');
      engine ??= load();
      const accept = req.accepts(['application/json', graphqlType]) || 'application/json';
      const { status, headers, body } = await (await engine)(req, params, accept);
      res.status(status).set(headers).send(body);
    },
  };
}
