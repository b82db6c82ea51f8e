import type { IncomingMessage, ServerResponse } from 'node:http';

/** Most bodies arrive with their head, or right behind it. */
const arrivalMs = 100;
/** They usually have no body. */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

interface RequestCounter {
  /** Counts a request until its answer is complete or its client has gone. */
  count(req: IncomingMessage, res: ServerResponse): void;
  /** A body that arrives slowly uses no capacity: a few such senders must not make the process look busy. */
  pauseSlow(nowMs: number): void;
}

/** @param change adds one to the requests in progress, or takes one away */
export function createRequestCounter(change: (by: 1 | -1, req: IncomingMessage) => void): RequestCounter {
  let arriving: { req: IncomingMessage; sinceMs: number; pause(): void; goOn(): void }[] = [];
  return {
    count(req, res) {
      let state: 'counted' | 'paused' | 'closed' = 'counted';
      const move = (from: typeof state, to: typeof state, by: 1 | -1) => {
        if (state !== from) return;
        state = to;
        change(by, req);
      };
      change(1, req);
      res.once('close', () => {
        move('counted', 'closed', -1);
        state = 'closed';
      });
      if (safeMethods.has(req.method ?? '')) return;
      const pause = () => move('counted', 'paused', -1);
      const goOn = () => move('paused', 'counted', 1);
      arriving.push({ req, sinceMs: performance.now(), pause, goOn });
    },
    pauseSlow(nowMs) {
      if (arriving.length === 0) return;
      arriving = arriving.filter(({ req, sinceMs, pause, goOn }) => {
        if (req.complete || nowMs - sinceMs < arrivalMs) return !req.complete;
        pause();
        req.once('end', goOn);
        return false;
      });
    },
  };
}
