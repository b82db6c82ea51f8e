import type { RequestListener } from 'node:http';
import type { CollectedMetrics } from './workers.ts';

/** GET /metrics only, on a separate port: the metrics are only for the operator. */
export function metricsEndpoint(source: CollectedMetrics, onError: (error: unknown) => void): RequestListener {
  return (req, res) => {
    const answer = (status: number, body: string, headers: Record<string, string> = {}) => {
      res.writeHead(status, {
        'Content-Type': 'text/plain; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
        ...headers,
      });
      res.end(body);
    };
    if (req.url?.split('?', 1)[0] !== '/metrics') return answer(404, 'Not Found: metrics are at /metrics\n');
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      return answer(405, 'Method Not Allowed\n', { Allow: 'GET, HEAD' });
    }
    source.text().then(
      (text) => answer(200, text, { 'Content-Type': source.contentType }),
      (error: unknown) => {
        onError(error);
        answer(500, 'The metrics could not be collected: see the log.\n');
      },
    );
  };
}
