import { type Request, type RequestHandler, type Response, Router } from 'express';
import { z } from 'zod';
import type { ApiAccess, Guard } from './access.ts';
import { callAccess } from './access-table.ts';
import { jsonBody } from './body-parsers.ts';
import { methodNotAllowed } from './error-pages.ts';
import { HttpError } from './errors.ts';
import { isJsonRoute, markJsonRoutes } from './json-routes.ts';
import { actForVisitor } from './visitor-address.ts';

/**
 * One call of the JSON API. Its route, its guard, its place in the OpenAPI document and its rows in the tests'
 * matrix all come from this one description.
 */
interface Description<
  Id extends string,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Exact; parameters as `{name}`. */
  path: string;
  /** Another spelling of the address, as the specification has it. */
  alsoAt?: string;
  /** Unique; names the call in the access table, in the document, and its counter. */
  id: Id;
  summary: string;
  params?: Params;
  query?: Query;
  body?: Body;
  /** What a 200 holds. What it does not name never leaves. */
  answer: Answer;
  /** Statuses beside those that every call can have. */
  problems?: Partial<Record<402 | 404 | 409, string>>;
  handle(input: {
    /** For `principalOf`. */
    req: Request;
    params: z.infer<Params>;
    query: z.infer<Query>;
    body: z.infer<Body>;
  }): Promise<z.input<Answer>>;
}

/** A call as the house handles it: the types of its input are its own affair. */
export interface ApiOperation
  extends Omit<Description<string, z.ZodObject, z.ZodObject, z.ZodType, z.ZodType>, 'handle'> {
  /** Its rule in the access table. */
  access: ApiAccess | 'public';
  /** In which other types than `application/json` a caller may have the answer, and what is wrong with the call. */
  alsoAs?: readonly string[];
  /** Reads the input, does what is asked, answers what the description names. @throws {HttpError} */
  respond(req: Request, res: Response): Promise<void>;
}

/** The rate limits of the calls. Their module is above this one, so it hands them in. */
export interface CallLimits {
  /** Calls by one caller, or from one address for public calls. */
  call(operation: Pick<ApiOperation, 'id' | 'access'>): RequestHandler;
  /** Public calls of a client app for its visitors. */
  forVisitors: RequestHandler;
}

/** Input that does not fit its description is refused with what is wrong; values are never repeated. */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema | undefined,
  value: unknown,
  where: string,
): z.infer<Schema> {
  // Without a schema nobody looks at it.
  const parsed = (schema ?? z.unknown().transform(() => ({}))).safeParse(value);
  if (parsed.success) return parsed.data as z.infer<Schema>;
  const invalidParams = parsed.error.issues.map(({ path, message }) => ({
    name: [where, ...path].join('.'),
    detail: message,
  }));
  throw new HttpError('validation', { detail: invalidParams.map(({ name }) => name).join(', '), invalidParams });
}

/** Makes the function that describes a call, with its input and its answer typed by their schemas, and its rule of this table. */
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
        const params = parseInput(description.params, req.params, 'path');
        const query = parseInput(description.query, { ...req.query }, 'query');
        const body = parseInput(description.body, req.body, 'body');
        res.json(description.answer.parse(await handle({ req, params, query, body })));
      },
    };
  };
}

/** Describes a call of Foyer. */
export const defineOperation = operationsBy(callAccess);

/**
 * What was sent, who it is, how often, and only then the act. A call that is sent slowly asks who it is at its end: held back
 * half-sent, it would still act for a session that has been signed out meanwhile.
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

const documentSeconds = 300;

/**
 * The JSON API: every operation, and `GET /openapi.json`, which describes them. It stands before the pages, because a
 * request with a token must not touch a cookie.
 */
export function apiRoutes(
  operations: readonly ApiOperation[],
  { guard, limits, document }: { guard: Guard; limits: CallLimits; document: object },
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const spelt = operations.flatMap((one) => (one.alsoAt === undefined ? [one] : [one, { ...one, path: one.alsoAt }]));
  const byPath = Map.groupBy(spelt, ({ path }) => path);
  router.use(markJsonRoutes(['/openapi.json', ...byPath.keys()]));
  for (const [path, ofPath] of byPath) {
    const route = router.route(path.replace(/\{(\w+)\}/g, ':$1'));
    for (const operation of ofPath) route[operation.method](...toHandlers(operation, guard, limits));
    route.all(
      methodNotAllowed(
        ...ofPath.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])),
      ),
    );
  }
  const text = JSON.stringify(document);
  router
    .route('/openapi.json')
    .get((_req, res) => {
      res.set('Cache-Control', `public, max-age=${documentSeconds}`).type('json').send(text);
    })
    .all(methodNotAllowed('GET', 'HEAD'));
  router.use((req, _res, next) => {
    if (isJsonRoute(req)) throw new HttpError('notFound');
    next();
  });
  return router;
}
