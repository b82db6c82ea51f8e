import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');

/** Lower floors know nothing of higher ones. Rooms of one floor may know each other, but not in a circle. */
const floors = [
  ['shared'],
  ['http', 'store', 'metrics'],
  ['rate-limits', 'messages'],
  ['session', 'account', 'codes', 'legal'],
  ['password', 'mfa', 'passkeys', 'contact', 'leaving', 'membership', 'federation'],
  ['sign-in', 'sign-up'],
  ['settings', 'checkout'],
  ['oauth'],
  ['dashboard'],
  // Beside app.ts: they wire, stand in, or operate.
  ['sandbox', 'cli'],
  ['process'],
] as const;

const floorOf = new Map<string, number>(
  floors.flatMap((rooms, floor) => rooms.map((room): [string, number] => [room, floor])),
);

interface Import {
  file: string;
  target: string;
}

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, specifier = '']) => ({
    file,
    target: relative(root, resolve(root, dirname(file), specifier)),
  }));
}

const serverImports = sources('server').flatMap(importsOf);
const roomOf = (file: string) => {
  const [top, room, ...rest] = file.split(sep);
  return top === 'server' && rest.length > 0 ? room : undefined;
};
const between = serverImports.filter(({ file, target }) => {
  const [from, to] = [roomOf(file), roomOf(target)];
  return from !== undefined && to !== undefined && from !== to;
});

describe('the rooms of the server', () => {
  it('are all known to this test, each with a door plate', () => {
    const rooms = new Set(sources('server').flatMap((file) => roomOf(file) ?? []));
    expect([...rooms].filter((room) => !floorOf.has(room))).toEqual([]);
    for (const room of rooms) {
      expect(readFileSync(join(root, 'server', room, 'index.ts'), 'utf8')).toMatch(/^\/\*\*\n \* [A-Z]/);
    }
    expect(between.length).toBeGreaterThan(20);
  });

  it('know only rooms of their own floor and below', () => {
    const upward = between.filter(
      ({ file, target }) => (floorOf.get(roomOf(target) ?? '') ?? 99) > (floorOf.get(roomOf(file) ?? '') ?? -1),
    );
    expect(upward).toEqual([]);
  });

  it('The shared module imports nothing of Foyer outside itself.', () => {
    const foreign = serverImports.filter(
      ({ file, target }) => roomOf(file) === 'shared' && roomOf(target) !== 'shared',
    );
    expect(foreign).toEqual([]);
  });

  it('reach each other only through index.ts', () => {
    expect(between.filter(({ target }) => !/\/index\.ts$/.test(target))).toEqual([]);
  });

  it('hold their queries in <noun>-store.ts alone', () => {
    const query = /\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto|replaceInto)\(/;
    const querying = sources('server').filter((file) => query.test(readFileSync(join(root, file), 'utf8')));
    // The room of the stores itself keeps leases and the list of migrations.
    const elsewhere = querying.filter((file) => roomOf(file) !== 'store' && !/-store\.ts$/.test(file));
    expect(elsewhere).toEqual([]);
    expect(querying.length).toBeGreaterThan(10);
  });

  it('know each other in no circle', () => {
    const knows = new Map<string, Set<string>>();
    for (const { file, target } of between) {
      const from = roomOf(file) ?? '';
      knows.set(from, (knows.get(from) ?? new Set()).add(roomOf(target) ?? ''));
    }
    const circles: string[] = [];
    const walk = (room: string, path: string[]) => {
      if (path.includes(room)) circles.push([...path.slice(path.indexOf(room)), room].join(' → '));
      else for (const next of knows.get(room) ?? []) walk(next, [...path, room]);
    };
    for (const room of knows.keys()) walk(room, []);
    expect(circles).toEqual([]);
  });

  it('are wired by the files beside them alone: no room imports app.ts, deps.ts, start.ts or main.ts', () => {
    const wiring = /^server[/\\](app|open-rooms|deps|start|main)\.ts$/;
    const allowed = new Set(['cli', 'process']);
    expect(
      serverImports.filter(
        ({ file, target }) => wiring.test(target) && roomOf(file) !== undefined && !allowed.has(roomOf(file) ?? ''),
      ),
    ).toEqual([]);
  });
});

describe('the other folders', () => {
  it('views know only views and texts: no request, no store, no state', () => {
    const foreign = sources('views')
      .flatMap(importsOf)
      .filter(({ target }) => !/^(views|locales)[/\\]/.test(target));
    expect(foreign).toEqual([]);
  });

  it('the client never reaches into the server', () => {
    const foreign = sources('client')
      .flatMap(importsOf)
      .filter(({ target }) => /^(server|config)[/\\]/.test(target));
    expect(foreign).toEqual([]);
  });
});
