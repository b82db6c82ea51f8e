import { dirname, join } from 'node:path/posix';
import { listSources, readSource } from './parsed-source.ts';

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

describe('Public interfaces of the modules', () => {
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
});
