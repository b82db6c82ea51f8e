import type { IncomingMessage } from 'node:http';
import type { Metrics } from '../metrics/index.ts';
import type { NodeMiddleware } from './direct-dispatcher.ts';

/**
 * The pattern of the Express route that served a request, as in `/oauth2/authorize/:uid`, or undefined if none did. The
 * path itself is not used: visitors can request any path, and paths contain ids of pending requests.
 */
export function routePattern(req: IncomingMessage): string | undefined {
  const route: unknown = Reflect.get(req, 'route');
  const path: unknown = Reflect.get(Object(route), 'path');
  return typeof path === 'string' ? path : undefined;
}

/**
 * Reports each request when its answer is complete or its client has disconnected.
 * @param isDirect tests whether a call bypasses Express: then its path is its route
 */
export function measureRequests(metrics: Metrics, isDirect: (method: string, path: string) => boolean): NodeMiddleware {
  return (req, res, next) => {
    const beganMs = performance.now();
    const { method = '', url = '' } = req;
    res.once('close', () => {
      const path = url.split('?', 1)[0] ?? '';
      const other = isDirect(method, path) ? path : path.startsWith('/assets/') ? '/assets/*' : 'none';
      const status = res.writableFinished ? res.statusCode : undefined;
      metrics.httpRequest({
        method,
        route: routePattern(req) ?? other,
        status,
        durationMs: performance.now() - beganMs,
      });
    });
    next();
  };
}
