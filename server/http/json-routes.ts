import type { Request, RequestHandler } from 'express';
import { HttpError } from './errors.ts';

const marked = new WeakSet<Request>();

/** Tests whether this address answers only JSON: its errors are problem documents, whatever the Accept header says. */
export function isJsonRoute(req: Request): boolean {
  return marked.has(req);
}

/**
 * Marks these addresses, and those below them, as JSON only. A path marks its first segment, but never the root:
 * `/clients` marks `/clients/…`, `/user/info` all of `/user/…`.
 */
export function markJsonRoutes(paths: readonly string[]): RequestHandler {
  const exact = new Set(paths);
  const folders = paths.map((path) => {
    const fixed = path.split('/{', 1)[0] ?? path;
    const parent = fixed.slice(0, fixed.lastIndexOf('/') + 1);
    return parent === '/' ? `${fixed}/` : parent;
  });
  return (req, _res, next) => {
    if (exact.has(req.path) || folders.some((folder) => req.path.startsWith(folder))) marked.add(req);
    next();
  };
}

/** Behind the JSON routes: there is no other one. */
export const refuseOtherJsonRoutes: RequestHandler = (req, _res, next) => {
  if (isJsonRoute(req)) throw new HttpError('notFound');
  next();
};
