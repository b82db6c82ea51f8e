import type { Request, RequestHandler } from 'express';

const marked = new WeakSet<Request>();

/** Whether this address speaks JSON alone: its errors are problem details whatever the caller says that it accepts. */
export function isJsonRoute(req: Request): boolean {
  return marked.has(req);
}

/** Marks the addresses at and below these as JSON alone. The root is nobody's: `/clients` claims `/clients/…`, `/user/info` all of `/user/…`. */
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
