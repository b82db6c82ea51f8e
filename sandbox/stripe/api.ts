import { randomBytes } from 'node:crypto';
import express, { type Request, type Response, type Router } from 'express';
import { type Engine, type KeyKind, StandInError } from './engine/index.ts';
import { asStandInError, errorBody, isStorable } from './error-answer.ts';
import type { createView } from './expansion.ts';
import type { FaultKind, Faults } from './faults.ts';
import type { ApiAnswer, Idempotency } from './idempotency.ts';
import { isList, listPage } from './list-page.ts';
import type { RequestRate } from './request-rate.ts';

const apiVersion = '2026-10-28.endive';

/** One request with its answer. */
export interface Exchange {
  method: string;
  /** As '/v1/customers/cus_1'. */
  path: string;
  /** As they came: forms and queries only have text. */
  params: Record<string, unknown>;
  idempotencyKey?: string;
  /** The header `User-Agent`: Stripe's library names itself and its application. */
  agent: string | undefined;
  /** The kind of the key; undefined for an unknown one. */
  as?: KeyKind;
  status: number;
  /** As it was sent. */
  answer: unknown;
}

interface ApiOptions {
  engine: Engine;
  view: ReturnType<typeof createView>;
  idempotency: Idempotency;
  faults: Faults;
  rate: RequestRate;
  keys: { secret: string; publishable: string };
  /** Events that happen during the work name this request as their cause. */
  withCause<T>(request: { id: string; idempotency_key: string | null }, work: () => T): T;
  onExchange(exchange: Exchange): void;
  /** A request may have changed something. */
  onChange(): void;
}

const methods = new Set(['GET', 'POST', 'DELETE']);
const isMethod = (method: string): method is 'GET' | 'POST' | 'DELETE' => methods.has(method);

const unauthorized = (message: string) => new StandInError(message, { status: 401 });

/** The key, as bearer token or as the name of Basic authentication (docs.stripe.com/api/authentication). */
function readApiKey(req: Request): string | undefined {
  const [scheme = '', value = ''] = (req.get('authorization') ?? '').split(' ');
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme.toLowerCase() === 'basic') return Buffer.from(value, 'base64').toString().split(':')[0];
  return undefined;
}

function authenticate(req: Request, keys: ApiOptions['keys']): KeyKind {
  const key = readApiKey(req);
  if (!key) {
    throw unauthorized(
      "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    );
  }
  if (key === keys.secret) {
    if (isBrowser(req)) throw unauthorized('A secret key is not for browsers. Please use a publishable API key.');
    return 'secret';
  }
  if (key === keys.publishable) return 'publishable';
  throw unauthorized(`Invalid API Key provided: ${key.slice(0, 8)}****`);
}

/** The sandbox's secret key is public: without this check any page in the same browser could use it. */
export const isBrowser = (req: Request): boolean =>
  req.get('origin') !== undefined || req.get('sec-fetch-site') !== undefined;

/** Browsers call from the origin of the page with the card form. */
function allowBrowsers(req: Request, res: Response): boolean {
  res.set({
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'Request-Id, Stripe-Version',
    'Access-Control-Max-Age': '300',
  });
  if (req.method !== 'OPTIONS') return false;
  res.set('Access-Control-Allow-Methods', 'GET, HEAD, POST, DELETE');
  res.set('Access-Control-Allow-Headers', req.get('access-control-request-headers') ?? 'Authorization, Content-Type');
  res.status(204).end();
  return true;
}

const readExpand = ({ expand }: Record<string, unknown>): string[] =>
  expand === undefined ? [] : Array.isArray(expand) ? expand.map(String) : Object.values(expand as object).map(String);

/** A request under /v1. */
interface ApiRequest {
  req: Request;
  id: string;
  path: string;
  params: Record<string, unknown>;
  /** The idempotency key. */
  key: string | undefined;
}

const readRequest = (req: Request): ApiRequest => ({
  req,
  id: `req_${randomBytes(7).toString('hex')}`,
  path: `/v1${req.path}`,
  params: { ...(req.method === 'GET' ? req.query : { ...req.query, ...req.body }) },
  key: req.get('idempotency-key'),
});

function execute({ engine, view }: ApiOptions, { req, path, params }: ApiRequest, as: KeyKind) {
  const { method } = req;
  if (!isMethod(method)) {
    throw new StandInError(`Unrecognized request URL (${method}: ${path}).`, { status: 404 });
  }
  const { expand, limit, starting_after, ending_before, ...rest } = params;
  const answer = engine.call({ method, path, params: rest, as });
  const page = method === 'GET' && isList(answer) ? listPage(answer, params) : answer;
  return view(page, readExpand(params));
}

const errorAnswer = (error: StandInError, requestId: string): ApiAnswer => ({
  status: error.status,
  body: JSON.stringify(errorBody(error, requestId)),
  requestId,
});

/** The stored answer of the request's key, or the answer of the execution. */
function executeOnce(options: ApiOptions, request: ApiRequest, as: KeyKind): ApiAnswer {
  const { idempotency } = options;
  const { req, id: requestId } = request;
  const key = req.method === 'POST' ? request.key : undefined;
  const succeed = (): ApiAnswer => ({
    status: 200,
    body: JSON.stringify(execute(options, request, as)),
    requestId,
  });
  if (key === undefined) return succeed();
  const first = idempotency.begin(key, request);
  if (first !== undefined) return first;
  let answer: ApiAnswer;
  try {
    answer = succeed();
  } catch (thrown) {
    const error = asStandInError(thrown);
    answer = errorAnswer(error, requestId);
    if (!isStorable(error)) return answer;
  }
  idempotency.store(key, request, answer);
  return answer;
}

interface Outcome {
  answer: ApiAnswer;
  as?: KeyKind | undefined;
  /** Only the request that started to use its key ends that. */
  usesKey: boolean;
}

function answerRequest(options: ApiOptions, request: ApiRequest): Outcome {
  const { req, id, key } = request;
  let as: Outcome['as'];
  try {
    const answer = options.withCause({ id, idempotency_key: key ?? null }, () => {
      as = authenticate(req, options.keys);
      return executeOnce(options, request, as);
    });
    return { answer, as, usesKey: true };
  } catch (thrown) {
    return { answer: errorAnswer(asStandInError(thrown), id), as, usesKey: false };
  }
}

/** docs.stripe.com/rate-limits */
const tooManyRequests = () =>
  new StandInError(
    'Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.',
    { status: 429, code: 'rate_limit' },
  );

/** The error of a planned fault: the request is not executed. */
function answerFault({ idempotency }: ApiOptions, request: ApiRequest, fault: FaultKind): Outcome {
  if (fault === 'rate-limit') return { answer: errorAnswer(tooManyRequests(), request.id), usesKey: false };
  const error = new StandInError('An unknown error occurred', { status: 500, type: 'api_error' });
  const answer = errorAnswer(error, request.id);
  if (fault === 'kept-error' && request.key !== undefined) idempotency.store(request.key, request, answer);
  return { answer, usesKey: false };
}

function sendAnswer(res: Response, { req, id, key }: ApiRequest, answer: ApiAnswer): void {
  res.set({ 'Request-Id': id, 'Stripe-Version': apiVersion, 'Cache-Control': 'no-cache, no-store' });
  if (req.method === 'POST' && key !== undefined) res.set('Idempotency-Key', key);
  if (answer.requestId !== id) {
    res.set({ 'Idempotent-Replayed': 'true', 'Original-Request': answer.requestId });
  }
  res.status(answer.status).type('json').send(answer.body);
}

function handleRequest(options: ApiOptions, request: ApiRequest, res: Response): void {
  const { idempotency, faults, onExchange, onChange } = options;
  const { req, path, params, key } = request;
  const { method } = req;
  const fault = faults.take(method, path, {
    library: req.get('user-agent')?.startsWith('Stripe/v1 NodeBindings') === true,
    key,
  });
  if (fault === 'unreachable') {
    req.socket.destroy();
    return;
  }
  const limited = fault === undefined && !options.rate.take();
  const answered = limited ? 'rate-limit' : fault;
  const fails = answered === 'error' || answered === 'kept-error' || answered === 'rate-limit';
  // Otherwise the library would retry by itself and hide the fault.
  if (fails) res.set('Stripe-Should-Retry', 'false');
  const { answer, as, usesKey } = fails ? answerFault(options, request, answered) : answerRequest(options, request);
  if (method !== 'GET') onChange();
  const agent = req.get('user-agent');
  const exchange = { method, path, params, agent, status: answer.status, answer: JSON.parse(answer.body) };
  onExchange({ ...exchange, ...(as !== undefined && { as }), ...(key !== undefined && { idempotencyKey: key }) });
  // The key is in use until the answer is sent: a parallel request is refused, as Stripe does.
  setImmediate(() => {
    if (usesKey && key !== undefined) idempotency.end(key);
    if (fault === 'lost') req.socket.destroy();
    else sendAnswer(res, request, answer);
  });
}

/** Stripe's HTTP API: everything under /v1 (docs.stripe.com/api). */
export function apiRoutes(router: Router, options: ApiOptions): void {
  router.use('/v1', express.urlencoded({ extended: true, limit: '1mb' }), (req, res) => {
    if (!allowBrowsers(req, res)) handleRequest(options, readRequest(req), res);
  });
}
