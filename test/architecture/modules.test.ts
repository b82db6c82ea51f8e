import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');

/** A lower layer imports nothing of a higher one. Modules of one layer may import each other, but not in a cycle. */
const layers = [
  ['shared'],
  ['http', 'store', 'metrics'],
  ['audit'],
  ['messages'],
  ['sessions', 'users'],
  ['password', 'mfa', 'passkeys', 'federation'],
  ['sign-in', 'sign-up'],
  ['billing'],
  ['account'],
  ['oidc'],
  // Beside app.ts: they wire, or operate.
  ['cli'],
  ['process'],
] as const;

const layerByModule = new Map<string, number>(
  layers.flatMap((modules, layer) => modules.map((module): [string, number] => [module, layer])),
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

function listImports(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, specifier = '']) => ({
    file,
    target: relative(root, resolve(root, dirname(file), specifier)),
  }));
}

const serverImports = sources('server').flatMap(listImports);
const findModule = (file: string) => {
  const [top, module, ...rest] = file.split(sep);
  return top === 'server' && rest.length > 0 ? module : undefined;
};
const between = serverImports.filter(({ file, target }) => {
  const [from, to] = [findModule(file), findModule(target)];
  return from !== undefined && to !== undefined && from !== to;
});

describe('Modules of the server', () => {
  it('Every module is in the list of layers and has a module comment', () => {
    const modules = new Set(sources('server').flatMap((file) => findModule(file) ?? []));
    expect([...modules].filter((module) => !layerByModule.has(module))).toEqual([]);
    for (const module of modules) {
      expect(readFileSync(join(root, 'server', module, 'index.ts'), 'utf8')).toMatch(/^\/\*\*\n \* [A-Z]/);
    }
    expect(between.length).toBeGreaterThan(20);
  });

  it('A module imports only modules of its own layer and of lower layers', () => {
    const upward = between.filter(
      ({ file, target }) =>
        (layerByModule.get(findModule(target) ?? '') ?? 99) > (layerByModule.get(findModule(file) ?? '') ?? -1),
    );
    expect(upward).toEqual([]);
  });

  it('The shared module imports nothing of Foyer outside itself', () => {
    const foreign = serverImports.filter(
      ({ file, target }) => findModule(file) === 'shared' && findModule(target) !== 'shared',
    );
    expect(foreign).toEqual([]);
  });

  it('A module imports another module only through its index.ts', () => {
    expect(between.filter(({ target }) => !/\/index\.ts$/.test(target))).toEqual([]);
  });

  it('Queries are only in files named <noun>-store.ts', () => {
    const query = /\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto|replaceInto)\(/;
    const querying = ['server', 'sandbox']
      .flatMap(sources)
      .filter((file) => query.test(readFileSync(join(root, file), 'utf8')));
    // The module of the stores itself keeps leases and the list of migrations.
    const elsewhere = querying.filter((file) => findModule(file) !== 'store' && !/-store\.ts$/.test(file));
    expect(elsewhere).toEqual([]);
    expect(querying.length).toBeGreaterThan(10);
  });

  it('Modules do not import each other in a cycle', () => {
    const imports = new Map<string, Set<string>>();
    for (const { file, target } of between) {
      const from = findModule(file) ?? '';
      imports.set(from, (imports.get(from) ?? new Set()).add(findModule(target) ?? ''));
    }
    const cycles: string[] = [];
    const walk = (module: string, path: string[]) => {
      if (path.includes(module)) cycles.push([...path.slice(path.indexOf(module)), module].join(' → '));
      else for (const next of imports.get(module) ?? []) walk(next, [...path, module]);
    };
    for (const module of imports.keys()) walk(module, []);
    expect(cycles).toEqual([]);
  });

  it('No module but cli and process imports app.ts, wiring.ts, deps.ts, start.ts or main.ts', () => {
    const wiring = /^server[/\\](app|wiring|deps|start|main)\.ts$/;
    const allowed = new Set(['cli', 'process']);
    expect(
      serverImports.filter(
        ({ file, target }) =>
          wiring.test(target) && findModule(file) !== undefined && !allowed.has(findModule(file) ?? ''),
      ),
    ).toEqual([]);
  });
});

describe('Other folders', () => {
  it.each(['server', 'views', 'client', 'config', 'locales'])('No file of %s/ imports a file of sandbox/', (folder) => {
    const imports = sources(folder).flatMap(listImports);
    expect(imports.length).toBeGreaterThan(folder === 'config' ? 5 : 20);
    expect(imports.filter(({ target }) => /^sandbox[/\\]/.test(target))).toEqual([]);
  });

  it('The oracle of money imports nothing of the code that it judges', () => {
    const imports = sources('test/money').flatMap(listImports);
    expect(imports.length).toBeGreaterThan(20);
    expect(imports.filter(({ target }) => /^server[/\\](billing|account|app|wiring|deps)\b/.test(target))).toEqual([
      { file: join('test', 'money', 'product-child.ts'), target: join('server', 'deps.ts') },
    ]);
  });

  it('The sandbox imports modules of the server through their index.ts alone', () => {
    const imports = sources('sandbox').flatMap(listImports);
    const inside = imports.filter(({ target }) => findModule(target) !== undefined && !/\/index\.ts$/.test(target));
    expect(imports.length).toBeGreaterThan(100);
    expect(inside).toEqual([]);
  });

  it('The views of the sandbox import nothing of server and config', () => {
    const foreign = sources(join('sandbox', 'views'))
      .flatMap(listImports)
      .filter(({ target }) => /^(server|config)[/\\]/.test(target));
    expect(foreign).toEqual([]);
  });

  it('The client of the sandbox imports nothing outside itself and client/', () => {
    const foreign = sources(join('sandbox', 'client'))
      .flatMap(listImports)
      .filter(({ target }) => !/^(sandbox[/\\]client|client)[/\\]/.test(target));
    expect(foreign).toEqual([]);
  });

  it('Views import only views and texts', () => {
    const foreign = sources('views')
      .flatMap(listImports)
      .filter(({ target }) => !/^(views|locales)[/\\]/.test(target));
    expect(foreign).toEqual([]);
  });

  it('The client imports nothing of server and config', () => {
    const foreign = sources('client')
      .flatMap(listImports)
      .filter(({ target }) => /^(server|config)[/\\]/.test(target));
    expect(foreign).toEqual([]);
  });
});
