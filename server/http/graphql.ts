import { z } from 'zod';
import type { ApiAccess } from './access.ts';
import { type ApiOperation, parseInput } from './api-operation.ts';
import type { Engine } from './graphql-engine.ts';
import type { GraphqlSettings } from './graphql-settings.ts';

interface GraphqlDescription extends GraphqlSettings {
  path: string;
  id: string;
  summary: string;
  access: ApiAccess;
  /** The schema of `data`. */
  data: z.ZodType;
}

/** GraphQL over HTTP (draft of 2025), section 5.1; one request, never a batch. */
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
 * A GraphQL endpoint as a call of the JSON API, with the same guard, limits, bodies and errors. It accepts only POST
 * with JSON: one operation of bounded size without aliases. If introspection is off, error messages do not reveal the
 * schema either.
 */
export function graphqlOperation({ path, id, summary, access, data, ...settings }: GraphqlDescription): ApiOperation {
  let engine: Promise<Engine> | undefined;
  const load = async () => (await import('./graphql-engine.ts')).createEngine(settings);
  return {
    method: 'post',
    path,
    id,
    summary,
    access,
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
