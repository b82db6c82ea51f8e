import type { Express } from 'express';

export interface Route {
  /** A path that the route matches: its pattern with `x` for each parameter. */
  path: string;
  /** As the route was registered. */
  pattern: string;
  /** The methods of the route itself; empty: all. */
  methods: string[];
}

/** Paths of handlers without routes, which answer every path below them. */
export const folders = ['/assets', '/media/uploads'];

const get = (of: unknown, name: string): unknown => Reflect.get(Object(of), name);

/**
 * All routes of an Express application, read from the application itself, so that new ones are included.
 * @throws Error for an unsupported kind of mount
 */
export function routesOf(app: Express): Route[] {
  const routes = [...routesIn(get(get(app, 'router'), 'stack'))];
  const byPath = Map.groupBy(routes, ({ path }) => path);
  return [...byPath].map(([path, same]) => ({
    path,
    pattern: same[0]?.pattern ?? path,
    methods: [...new Set(same.flatMap(({ methods }) => methods))],
  }));
}

function* routesIn(stack: unknown): Generator<Route> {
  if (!Array.isArray(stack)) throw new Error('Express keeps its routes elsewhere than it did');
  for (const layer of stack) {
    const [route, inner] = [get(layer, 'route'), get(get(layer, 'handle'), 'stack')];
    if (route !== undefined) {
      const methods = Object.keys(Object(get(route, 'methods'))).filter((name) => name !== '_all');
      for (const pattern of [get(route, 'path')].flat()) {
        if (typeof pattern !== 'string') throw new Error(`a route without a readable path: ${String(pattern)}`);
        const path = pattern.replace(/[:*]\w+/g, 'x');
        yield { path, pattern, methods: methods.map((name) => name.toUpperCase()) };
      }
    } else if (get(layer, 'slash') !== true) {
      const known = folders.some((path) => Reflect.apply(get(layer, 'match') as () => boolean, layer, [`${path}/x`]));
      if (!known) throw new Error('something is mounted under a path that test/support/routes.ts does not know');
    } else if (inner !== undefined) yield* routesIn(inner);
  }
}
