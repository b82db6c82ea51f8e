import type { RequestHandler } from 'express';
import type { ApiAccess } from './access.ts';
import type { HttpExchange } from './cookies.ts';

/** Headers of an answer that scripts may read besides the safelisted ones (Fetch standard). */
const exposed = 'RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, DPoP-Nonce, Foyer-Ignored-Fields';
const preflightSeconds = 600;

const words = (list: string | undefined): string[] => (list ?? '').toLowerCase().split(/[\s,]+/);

/** Tests whether a client app has registered this origin for its scripts. */
export type IsScriptOrigin = (origin: string) => Promise<boolean>;

/**
 * Answers the preflight request of a script (Fetch standard, section 4.8) for the calls of one path. Only a request
 * with a token is permitted, to a call that needs one: a public call from a page of another site would count at the
 * address of the visitor. The answer permits no cookies.
 */
export function answerPreflight(
  operations: readonly { method: string; access: ApiAccess | 'public' }[],
  isScriptOrigin: IsScriptOrigin,
): RequestHandler {
  const methods = operations.filter(({ access }) => access !== 'public').map(({ method }) => method.toUpperCase());
  return async (req, res, next) => {
    const origin = req.get('origin');
    const method = req.get('access-control-request-method');
    const hasToken = words(req.get('access-control-request-headers')).includes('authorization');
    if (origin === undefined || method === undefined || !methods.includes(method) || !hasToken) return next();
    res.vary('Origin');
    if (!(await isScriptOrigin(origin))) return next();
    res.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': methods.join(', '),
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, DPoP, Prefer',
      'Access-Control-Max-Age': String(preflightSeconds),
    });
    res.status(204).end();
  };
}

/** Lets a script of this origin read the answer to a call with a token; never one with cookies. */
export function admitScript({ res }: HttpExchange, origin: string): void {
  res.setHeader('Access-Control-Allow-Origin', origin);
  res.setHeader('Access-Control-Expose-Headers', exposed);
}
