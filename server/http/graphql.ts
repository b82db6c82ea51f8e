import { z } from 'zod';
import { once } from '../shared/index.ts';
import type { ApiAccess } from './access.ts';
import { type ApiOperation, parseInput } from './api-operation.ts';
import type { GraphqlSettings } from './graphql-settings.ts';
import { describedAs, doc } from './schema-doc.ts';

interface GraphqlDescription extends GraphqlSettings {
  path: string;
  id: string;
  summary: string;
  description: string;
  access: ApiAccess;
  problems?: ApiOperation['problems'];
  /** The schema of `data`. */
  data: z.ZodType;
}

/** GraphQL over HTTP (draft of 2025), section 5.1; one request, never a batch. */
const request = z
  .object({
    query: z
      .string()
      .meta(doc('One operation, without aliases', '{ listUsers { items { userId imageName } nextToken } }')),
    operationName: z.string().nullish().meta(doc('Name of the operation', null)),
    variables: z.record(z.string(), z.unknown()).nullish().meta(doc('Values of the variables', {})),
    extensions: z.record(z.string(), z.unknown()).nullish().meta(doc('Ignored', {})),
  })
  .meta({ id: 'GraphqlRequest', description: 'GraphQL over HTTP (draft of 2025), section 5.1.' });

const location = z
  .object({ line: z.int().meta(doc('From 1', 1)), column: z.int().meta(doc('From 1', 3)) })
  .meta({ id: 'GraphqlLocation', description: 'A place in the document.' });

const errors = z.array(
  z
    .object({
      message: z.string().meta(doc('The fault, for people', 'Syntax Error: Unexpected Name.')),
      locations: z.array(location).optional().meta(doc('Where the fault is')),
      path: z
        .array(z.union([z.string(), z.int()]).meta(describedAs({})))
        .optional()
        .meta(doc('Names and indexes of the faulty field', ['listUsers'])),
    })
    .meta({ id: 'GraphqlError', description: 'A fault of the document.' }),
);

const graphqlType = 'application/graphql-response+json';

/**
 * A GraphQL endpoint as a call of the JSON API, with the same guard, limits, bodies and errors. It accepts only POST
 * with JSON: one operation of bounded size without aliases. If introspection is off, error messages do not reveal the
 * schema either.
 */
export function graphqlOperation({
  path,
  id,
  summary,
  description,
  access,
  data,
  problems = {},
  ...settings
}: GraphqlDescription): ApiOperation {
  const engine = once(async () => (await import('./graphql-engine.ts')).createEngine(settings));
  return {
    method: 'post',
    path,
    id,
    summary,
    description,
    access,
    body: request,
    answer: z
      .object({
        data: data.nullish().meta(doc('The queried fields')),
        errors: errors.optional().meta(doc('Faults of the document', [])),
      })
      .meta({ id: 'GraphqlAnswer', description: 'Data, or errors.' }),
    problems,
    alsoAs: [graphqlType],
    load: engine,
    async respond(req, res) {
      const params = parseInput(request, req.body, 'body');
      const accept = req.accepts(['application/json', graphqlType]) || 'application/json';
      const { status, headers, body } = await (await engine())(req, params, accept);
      res.status(status).set(headers).send(body);
    },
  };
}
