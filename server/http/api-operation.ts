import { type Request, type RequestHandler, type Response, Router } from 'express';
import { z } from 'zod';
import type { ApiAccess, Guard } from './access.ts';
import { callAccess } from './access-table.ts';
import { serveDocument } from './api-document.ts';
import { acceptsNoFields, nullsAsAbsent } from './api-fields.ts';
import { answerPreflight, type IsScriptOrigin } from './api-scripts.ts';
import { findUnknownFields, reportUnknownFields } from './api-unknown-fields.ts';
import { methodNotAllowed } from './error-pages.ts';
import { HttpError } from './errors.ts';
import { jsonBody } from './request-body.ts';
import { markJsonRoutes, refuseOtherJsonRoutes } from './request-guards.ts';
import { actForVisitor } from './visitor-address.ts';

/** One call of the JSON API. Its route, guard, OpenAPI entry and rows in the test matrix are all derived from it. */
interface Description<
  Id extends string,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Exact path; parameters as `{name}`. */
  path: string;
  /** Alternative path from the specification. */
  alsoAt?: string;
  /** Unique; identifies the call in the access table, in the OpenAPI document and in the rate limits. */
  id: Id;
  /** A few words. */
  summary: string;
  /** Sentences in Markdown: rules, consequences. */
  description?: string;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Schema of the 200 response. Properties that it does not name are never sent. */
  answer: Answer;
  /** Statuses in addition to those that every call can have. */
  problems?: Partial<Record<402 | 404 | 409, string>>;
  handle(input: {
    /** For `requirePrincipal`. */
    req: Request;
    params: z.infer<Params>;
    query: z.infer<Query>;
    body: z.infer<Body>;
  }): Promise<z.input<Answer>>;
}

/**
 * Marks a property of an answer that repeats another one, for callers that read the answer at another level.
 * @param path of the property that it repeats, from the root of the answer
 */
export const aliasMeta = (path: string) => ({ description: `Alias of ${path}`, 'x-alias-of': path });

/** A call without the types of its input, for code that handles all calls. */
export interface ApiOperation
  extends Omit<Description<string, z.ZodObject, z.ZodObject, z.ZodType, z.ZodType>, 'handle'> {
  /** Its rule in the access table. */
  access: ApiAccess | 'public';
  /** Further media types of the answer besides `application/json`, which also apply to errors of the call. */
  alsoAs?: readonly string[];
  /** Loads what the first call would otherwise load. */
  load?(): Promise<unknown>;
  /** Reads the input, performs the call and sends the described answer. @throws {HttpError} */
  respond(req: Request, res: Response): Promise<void>;
}

/** The rate limits of the calls. Their module belongs to a higher layer, so they are injected. */
export interface CallLimits {
  /** Calls per caller, or per address for public calls. */
  call(operation: Pick<ApiOperation, 'id' | 'access'>): RequestHandler;
  /** Public calls that a client app makes for its visitors. */
  forVisitors: RequestHandler;
}

/** A call whose fields are all optional needs no body, and a list of one may be sent as the one. */
function toExpectedBody(schema: z.ZodType | undefined, body: unknown): unknown {
  if (body === undefined && schema && acceptsNoFields(schema)) return {};
  return schema instanceof z.ZodArray && body !== undefined && !Array.isArray(body) ? [body] : body;
}

const noFields = z.object({});

/** Rejects input that does not match its schema. The error never repeats values. */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema | undefined,
  value: unknown,
  where: string,
): z.infer<Schema> {
  // Input without a schema is ignored.
  const reader = schema ?? z.unknown().transform(() => ({}));
  const parsed = reader.safeParse(nullsAsAbsent(reader, value));
  if (parsed.success) return parsed.data as z.infer<Schema>;
  const invalidParams = parsed.error.issues.map(({ path, message }) => ({
    name: [where, ...path].join('.'),
    detail: message,
  }));
  throw new HttpError('validation', { detail: invalidParams.map(({ name }) => name).join(', '), invalidParams });
}

/**
 * Makes the function that describes a call: its schemas give the types of input and answer, this table gives its rule.
 */
export function operationsBy<Id extends string>(table: Readonly<Record<Id, ApiAccess | 'public'>>) {
  return function operation<
    Params extends z.ZodObject,
    Query extends z.ZodObject,
    Body extends z.ZodType,
    Answer extends z.ZodType,
  >({ handle, ...description }: Description<Id, Params, Query, Body, Answer>): ApiOperation {
    return {
      access: table[description.id],
      ...description,
      async respond(req, res) {
        const sent = toExpectedBody(description.body, req.body);
        reportUnknownFields(req, res, [
          ...findUnknownFields(description.query ?? noFields, req.query, 'query'),
          ...findUnknownFields(description.body, sent, 'body'),
        ]);
        const params = parseInput(description.params, req.params, 'path');
        const query = parseInput(description.query, { ...req.query }, 'query');
        const body = parseInput(description.body, sent, 'body');
        res.json(description.answer.parse(await handle({ req, params, query, body })));
      },
    };
  };
}

/** Describes a JSON call of Foyer. */
export const defineOperation = operationsBy(callAccess);

/**
 * The order is body, authentication, rate limit, action. A body that arrives slowly is authenticated after it is
 * complete: otherwise a call that was held back half-sent could still act for a session that has ended meanwhile.
 */
function toHandlers(operation: ApiOperation, guard: Guard, limits: CallLimits): RequestHandler[] {
  const { access, method, body } = operation;
  return [
    ...(access === 'public' ? [...actForVisitor(guard, limits.forVisitors), limits.call(operation)] : []),
    ...(body ? jsonBody() : []),
    ...(access === 'public'
      ? []
      : [guard(method === 'get' ? { ...access, reads: true } : access), limits.call(operation)]),
    (req, res) => operation.respond(req, res),
  ];
}

interface ApiServices {
  guard: Guard;
  limits: CallLimits;
  /** Gives `/openapi.json`; called for the first request. */
  describe: () => object;
  /** Without it no page of another origin may call. */
  isScriptOrigin?: IsScriptOrigin;
}

/**
 * The JSON API: all operations, and `GET /openapi.json`, which describes them. It precedes the pages, because a request
 * with a token must not touch a cookie.
 */
export function apiRoutes(
  operations: readonly ApiOperation[],
  { guard, limits, describe, isScriptOrigin = async () => false }: ApiServices,
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const spelt = operations.flatMap((one) => (one.alsoAt === undefined ? [one] : [one, { ...one, path: one.alsoAt }]));
  const byPath = Map.groupBy(spelt, ({ path }) => path);
  router.use(markJsonRoutes(['/openapi.json', ...byPath.keys()]));
  for (const [path, ofPath] of byPath) {
    const route = router.route(path.replace(/\{(\w+)\}/g, ':$1'));
    for (const operation of ofPath) route[operation.method](...toHandlers(operation, guard, limits));
    route.options(answerPreflight(ofPath, isScriptOrigin));
    route.all(
      methodNotAllowed(
        ...ofPath.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])),
      ),
    );
  }
  router.route('/openapi.json').get(serveDocument(describe)).all(methodNotAllowed('GET', 'HEAD'));
  router.use(refuseOtherJsonRoutes);
  return router;
}
