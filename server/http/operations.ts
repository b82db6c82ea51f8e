import type { Request, RequestHandler, Response, Router } from 'express';
import { z } from 'zod';
import type { KeyValueStore } from '../store/index.ts';
import { type Access, type Guard, principalOf } from './access.ts';
import { methodNotAllowed } from './error-pages.ts';
import { HttpError } from './errors.ts';
import { limitRate } from './rate-limit.ts';

/**
 * One call of the JSON API. Its route, its guard, its limits, its line in the OpenAPI document and its row in the tests'
 * matrix all come from this one description.
 */
export interface Operation {
  method: 'get' | 'post' | 'put';
  /** Exact; parameters as `{name}`. */
  path: string;
  id: string;
  summary: string;
  /** `'public'` is said, never forgotten. */
  access: Access | 'public';
  query?: z.ZodObject;
  body?: z.ZodType;
  /** What a 200 holds. */
  answer: z.ZodType;
  /** Statuses beside those that every guarded call can have. */
  problems?: Partial<Record<400 | 404 | 409, string>>;
  /** Per caller and minute. */
  limitPerMinute?: number;
  handle(input: Input): Promise<unknown>;
}

export interface Input {
  req: Request;
  res: Response;
  query: Record<string, unknown>;
  body: unknown;
}

const minuteMs = 60_000;
const usualLimitPerMinute = 300;

/** Input that does not fit its description is refused with what is wrong; values are never repeated. */
function parse(schema: z.ZodType | undefined, value: unknown, what: string): unknown {
  if (!schema) return {};
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${[what, ...issue.path].join('.')}: ${issue.message}`);
  throw new HttpError('validation', { detail: faults.join('; ') });
}

/** Callers are counted by who they are, visitors by their address. */
function callerOf(req: Request, access: Operation['access']): string | undefined {
  if (access === 'public') return undefined;
  const principal = principalOf(req);
  return principal.kind === 'member' ? `member:${principal.userId}` : `client:${principal.clientId}`;
}

export function mountOperations(
  router: Router,
  operations: readonly Operation[],
  guard: Guard,
  kv: KeyValueStore,
): void {
  for (const operation of operations) {
    const { access, method, path, id } = operation;
    const limit = { name: id, limit: operation.limitPerMinute ?? usualLimitPerMinute, windowMs: minuteMs };
    const limiter =
      access === 'public' ? limitRate(kv, limit) : limitRate(kv, limit, (req) => callerOf(req, access) ?? '');
    const handle: RequestHandler = async (req, res) => {
      const query = parse(operation.query, { ...req.query }, 'query') as Record<string, unknown>;
      const body = parse(operation.body, req.body, 'body');
      res.json(await operation.handle({ req, res, query, body }));
    };
    const route = router.route(path.replace(/\{(\w+)\}/g, ':$1'));
    const before = access === 'public' ? [limiter] : [guard(access), limiter];
    route[method](...before, handle);
    route.all(methodNotAllowed(method.toUpperCase(), ...(method === 'get' ? ['HEAD'] : [])));
  }
}

const problem = {
  type: 'object',
  required: ['type', 'title', 'status'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', description: 'Names the log line: urn:foyer:reference:…' },
  },
} as const;

const problemAnswer = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});

function securityOf(access: Operation['access']) {
  if (access === 'public') return [];
  return [
    ...(access.member ? [{ session: [] }, { oauth: ['account'] }] : []),
    ...(access.client !== undefined ? [{ oauth: [access.client] }] : []),
  ];
}

function describe(operation: Operation) {
  const { access, query, body, problems = {} } = operation;
  const json = (schema: z.ZodType) => ({
    'application/json': { schema: z.toJSONSchema(schema, { target: 'draft-2020-12' }) },
  });
  const parameters = Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: !(schema as z.ZodType).safeParse(undefined).success,
    schema: z.toJSONSchema(schema as z.ZodType, { target: 'draft-2020-12' }),
  }));
  const guarded =
    access === 'public' ? {} : { 401: problemAnswer('No valid credentials'), 403: problemAnswer('Not allowed') };
  const answers = { ...guarded, 429: problemAnswer('Too many calls'), 503: problemAnswer('A store is away') };
  return {
    operationId: operation.id,
    summary: operation.summary,
    security: securityOf(access),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: {
      200: { description: 'Done', content: json(operation.answer) },
      ...(query || body ? { 400: problemAnswer('The input does not fit') } : {}),
      ...Object.fromEntries(Object.entries(problems).map(([status, text]) => [status, problemAnswer(text)])),
      ...answers,
    },
  };
}

/** The OpenAPI 3.1 document of these calls. */
export function openApiDocument(
  operations: readonly Operation[],
  {
    title,
    url,
    authorizationUrl,
    tokenUrl,
    scopes,
  }: { title: string; url: string; authorizationUrl: string; tokenUrl: string; scopes: Record<string, string> },
) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  return {
    openapi: '3.1.0',
    info: { title, version: '1' },
    servers: [{ url }],
    paths,
    components: {
      schemas: { Problem: problem },
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'foyer_session',
          description: "The member's own browser, on this site's pages",
        },
        oauth: {
          type: 'oauth2',
          flows: {
            authorizationCode: { authorizationUrl, tokenUrl, scopes: { account: scopes.account ?? '' } },
            clientCredentials: {
              tokenUrl,
              scopes: Object.fromEntries(Object.entries(scopes).filter(([name]) => name !== 'account')),
            },
          },
        },
      },
    },
  };
}
