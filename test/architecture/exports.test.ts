import { basename, dirname, join } from 'node:path/posix';
import { listFiles, listSources, readSource } from './parsed-source.ts';

const extension = /\.(?:tsx?|mjs|js|css)$/;

const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map((item) => item.trim().replace(/^type /, ''))
    .filter((item) => item !== '');

/** The module whose public interface a path is: `server/<module>/index.ts`. */
const moduleOfIndex = (path: string): string | undefined => /^server\/([^/]+)\/index\.ts$/.exec(path)?.[1];

/** `<module> <name>` for each name that a file takes from the index of another module. */
function listUses(file: string): string[] {
  const text = readSource(file);
  const imports = [...text.matchAll(/(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)'/g)];
  const dynamic = [...text.matchAll(/\{([^}]*)\} = await import\('(\.[^']+)'\)/g)];
  return [...imports, ...dynamic].flatMap(([, list = '', path = '']) => {
    const module = moduleOfIndex(join(dirname(file), path));
    if (module === undefined || file.startsWith(`server/${module}/`)) return [];
    return namesIn(list).map((name) => `${module} ${name.split(' as ')[0]}`);
  });
}

const indexes = listSources('server').filter((file) => moduleOfIndex(file) !== undefined);
const uses = new Set(listSources('server', 'sandbox', 'test', 'scripts', 'examples').flatMap(listUses));

const product = ['server', 'client', 'config', 'views', 'sandbox'];
const everywhere = [...listSources(...product, 'test', 'examples', 'locales'), ...listFiles('scripts', /\.mjs$/)];

/** `<file> <name>` for each name that a file takes from another one, also as the type of an import or by `import()`. */
function listTaken(file: string): string[] {
  const text = readSource(file);
  const toTarget = (path: string) => join(dirname(file), path);
  const lists = [...text.matchAll(/(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from '(\.[^']+)'/g)];
  const named = lists.flatMap(([, list = '', path = '']) =>
    namesIn(list).map((name) => `${toTarget(path)} ${name.split(/ as |:/)[0]}`),
  );
  const types = [...text.matchAll(/import\('(\.[^']+)'\)\.(\w+)/g)];
  // Also a module that is loaded later, whose uses cannot be counted.
  const whole = [...text.matchAll(/(?:\* (?:as \w+ )?from |import\()'(\.[^']+)'(?!\)\.\w)/g)];
  return [
    ...named,
    ...types.map(([, path = '', name]) => `${toTarget(path)} ${name}`),
    ...whole.map(([, path = '']) => `${toTarget(path)} *`),
  ];
}

describe('Public interfaces of the modules', () => {
  it('Every value and every type that a file exports is used by another file', () => {
    // The entry of the sandbox, which package.json names #sandbox.
    const taken = new Set(['sandbox/start.ts startWithSandbox', ...everywhere.flatMap(listTaken)]);
    const files = listSources(...product).filter((file) => !file.endsWith('.d.ts') && !taken.has(`${file} *`));
    const exported = files.flatMap((file) =>
      [
        ...readSource(file).matchAll(/^export (?:async )?(?:type|interface|const|function\*?|class|enum|let) (\w+)/gm),
      ].map(([, name]) => `${file} ${name}`),
    );
    expect(exported.length).toBeGreaterThan(1_000);
    expect(exported.filter((name) => !taken.has(name))).toEqual([]);
  });

  it('Every name that a module exports is used outside of it', () => {
    const exported = indexes.flatMap((file) =>
      [...readSource(file).matchAll(/export (?:type )?\{([^}]*)\} from/g)].flatMap(([, list = '']) =>
        namesIn(list).map((name) => `${moduleOfIndex(file)} ${name.split(' as ').at(-1)}`),
      ),
    );
    expect(exported.length).toBeGreaterThan(500);
    expect(exported.filter((name) => !uses.has(name))).toEqual([]);
  });

  it('No file takes the index of a module as a whole, so that its uses can be counted', () => {
    const whole = listSources('server', 'sandbox', 'test').filter((file) =>
      /import \* as \w+ from '[^']*server\/[^/']+\/index\.ts'/.test(readSource(file)),
    );
    expect(whole).toEqual([]);
  });

  it('Every file is named by another one: by an import, or by its name in a script, a test, package.json or the manual', () => {
    const sources = [...everywhere, ...listFiles('client', /\.css$/), ...listFiles('sandbox', /\.css$/)];
    const manual = [...listFiles('docs', /\.md$/), 'package.json', 'vite.config.ts', 'jest.config.mjs', 'README.md'];
    const wordsIn = (text: string) =>
      (text.match(/[\w-]+(?:\.[\w-]+)*/g) ?? []).map((word) => word.replace(extension, ''));
    const words = new Map([...sources, ...manual].map((file) => [file, new Set(wordsIn(readSource(file)))]));
    const files = new Map<string, number>();
    for (const word of [...words.values()].flatMap((one) => [...one])) files.set(word, (files.get(word) ?? 0) + 1);
    const isNamed = (file: string) => {
      const name = basename(file).replace(extension, '');
      return (files.get(name) ?? 0) > (words.get(file)?.has(name) ? 1 : 0);
    };
    // Jest finds tests, and the compiler declarations, by their names.
    const named = sources.filter((file) => !/\.test\.tsx?$|\.d\.ts$/.test(file));
    expect(named.length).toBeGreaterThan(1_000);
    expect(named.filter((file) => !isNamed(file))).toEqual([]);
  });
});
