import { randomBytes } from 'node:crypto';
import express, { type Request, type Response, type Router } from 'express';
import type { Engine } from './engine/index.ts';
import { StandInError } from './engine/index.ts';
import { asStandInError, errorBody, isKept } from './error-answer.ts';
import type { createView } from './expansion.ts';
import type { Faults } from './faults.ts';
import type { Idempotency, KeptAnswer } from './idempotency.ts';
import { isList, listPage } from './list-page.ts';

export const apiVersion = '2026-10-28.endive';

/** One request with its answer. */
export interface Exchange {
  method: string;
  /** As '/v1/customers/cus_1'. */
  path: string;
  /** As they came: forms and queries only have text. */
  params: Record<string, unknown>;
  idempotencyKey?: string;
  /** The kind of the key; undefined for an unknown one. */
  as?: 'secret' | 'publishable';
  status: number;
  /** As it was sent. */
  answer: unknown;
}

export interface ApiOptions {
  engine: Engine;
  view: ReturnType<typeof createView>;
  idempotency: Idempotency;
  faults: Faults;
  keys: { secret: string; publishable: string };
  /** The request that causes the events which happen now. */
  during<T>(request: { id: string; idempotency_key: string | null }, work: () => T): T;
  seen(exchange: Exchange): void;
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

function authenticate(req: Request, keys: ApiOptions['keys']): 'secret' | 'publishable' {
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

/** Stripe's HTTP API: everything under /v1 (docs.stripe.com/api). */
export function apiRoutes(router: Router, options: ApiOptions): void {
  const { engine, view, idempotency, faults, keys, during, seen, onChange } = options;

  function carryOut(req: Request, path: string, params: Record<string, unknown>, as: 'secret' | 'publishable') {
    const { method } = req;
    if (!isMethod(method)) {
      throw new StandInError(`Unrecognized request URL (${method}: ${path}).`, { status: 404 });
    }
    const { expand, limit, starting_after, ending_before, ...rest } = params;
    const answer = engine.call(method, path, rest, as);
    const page = method === 'GET' && isList(answer) ? listPage(answer, params) : answer;
    return view(page, readExpand(params));
  }

  function answerTo(
    req: Request,
    path: string,
    params: Record<string, unknown>,
    requestId: string,
    as: 'secret' | 'publishable',
  ): KeptAnswer {
    const key = req.method === 'POST' ? req.get('idempotency-key') : undefined;
    if (key === undefined) {
      return { status: 200, body: JSON.stringify(carryOut(req, path, params, as)), requestId };
    }
    const known = idempotency.begin(key, path, params);
    if (known !== undefined) return known;
    let answer: KeptAnswer;
    try {
      answer = { status: 200, body: JSON.stringify(carryOut(req, path, params, as)), requestId };
    } catch (thrown) {
      const error = asStandInError(thrown);
      answer = { status: error.status, body: JSON.stringify(errorBody(error, requestId)), requestId };
      if (!isKept(error)) return answer;
    }
    idempotency.keep(key, path, params, answer);
    return answer;
  }

  function send(res: Response, answer: KeptAnswer, requestId: string, key: string | undefined): void {
    res.set({ 'Request-Id': requestId, 'Stripe-Version': apiVersion, 'Cache-Control': 'no-cache, no-store' });
    if (key !== undefined) res.set('Idempotency-Key', key);
    if (answer.requestId !== requestId) {
      res.set({ 'Idempotent-Replayed': 'true', 'Original-Request': answer.requestId });
    }
    res.status(answer.status).type('json').send(answer.body);
  }

  router.use('/v1', express.urlencoded({ extended: true, limit: '1mb' }), (req, res) => {
    if (allowBrowsers(req, res)) return;
    const path = `/v1${req.path}`;
    const requestId = `req_${randomBytes(7).toString('hex')}`;
    const key = req.get('idempotency-key');
    const params: Record<string, unknown> = { ...(req.method === 'GET' ? req.query : { ...req.query, ...req.body }) };
    const fault = faults.take(req.method, path, {
      library: req.get('user-agent')?.startsWith('Stripe/v1 NodeBindings') === true,
      key,
    });
    if (fault === 'unreachable') return req.socket.destroy();

    let answer: KeptAnswer;
    const errorAnswer = (error: StandInError) => ({
      status: error.status,
      body: JSON.stringify(errorBody(error, requestId)),
      requestId,
    });
    // Only the request that started it ends it.
    let ends = false;
    let as: Exchange['as'];
    try {
      if (fault === 'error' || fault === 'kept-error') {
        // Otherwise the library would retry by itself and hide the fault.
        res.set('Stripe-Should-Retry', 'false');
        const error = new StandInError('An unknown error occurred', { status: 500, type: 'api_error' });
        if (fault === 'kept-error' && key !== undefined) idempotency.keep(key, path, params, errorAnswer(error));
        throw error;
      }
      answer = during({ id: requestId, idempotency_key: key ?? null }, () => {
        as = authenticate(req, keys);
        return answerTo(req, path, params, requestId, as);
      });
      ends = true;
    } catch (thrown) {
      answer = errorAnswer(asStandInError(thrown));
    }
    if (req.method !== 'GET') onChange();
    const exchange = { method: req.method, path, params, status: answer.status, answer: JSON.parse(answer.body) };
    seen({ ...exchange, ...(as !== undefined && { as }), ...(key !== undefined && { idempotencyKey: key }) });
    // The key is in use until the answer is sent: a parallel request is refused, as Stripe does.
    setImmediate(() => {
      if (ends && key !== undefined) idempotency.end(key);
      if (fault === 'lost') req.socket.destroy();
      else send(res, answer, requestId, req.method === 'POST' ? key : undefined);
    });
  });
}
