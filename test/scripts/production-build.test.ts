import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import productConfig from '../../vite.config.ts';

const root = join(import.meta.dirname, '../..');
const run = join(root, 'dist/run');
const product = ['server', 'views', 'client', 'config', 'locales'];

const listFiles = (folder: string, pattern: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name));
const read = (file: string) => readFileSync(file, 'utf8');
const words = (text: string) => text.match(/[\w$]+/g) ?? [];

/** The files that a file imports at once. */
function staticImports(file: string): string[] {
  // Static imports and re-exports alone: what `import()` names is loaded when its code runs.
  const named = read(file).matchAll(/^(?:import|export)\b[^'"]*?['"](\.[^'"]+)['"];?$/gm);
  return [...named].map(([, specifier = '']) => join(dirname(file), specifier));
}

/** A file and everything that it imports at once, as Node loads it with it. */
function loadedWith(entry: string): Set<string> {
  const loaded = new Set<string>();
  const waiting = [join(run, entry)];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    waiting.push(...staticImports(file));
  }
  return loaded;
}

/** Functions of packages that the product loads. */
const packageNames = ['authenticateClient'];

/** The names that the sandbox exports and the product does not know; the build keeps names. */
function listSandboxNames(): string[] {
  const known = new Set(
    product.flatMap((folder) => listFiles(join(root, folder), /\.tsx?$/).flatMap((file) => words(read(file)))),
  );
  const exported = listFiles(join(root, 'sandbox'), /(?<!vite\.config)\.tsx?$/)
    .filter((file) => !relative(root, file).startsWith(join('sandbox', 'client')))
    .flatMap((file) => [...read(file).matchAll(/^export (?:async )?(?:class|function|const) (\w{12,})/gm)]);
  for (const name of packageNames) known.add(name);
  return exported.map(([, name = '']) => name).filter((name) => !known.has(name));
}

const texts = (node: unknown): string[] =>
  typeof node === 'string' ? [node] : Object.values(node ?? {}).flatMap(texts);
const textsIn = (folder: string) => listFiles(folder, /\.json$/).flatMap((file) => texts(JSON.parse(read(file))));

/** The sentences that the sandbox shows and the product does not. */
function listSandboxTexts(): string[] {
  const known = textsIn(join(root, 'locales')).join('\n');
  return textsIn(join(root, 'sandbox/locales')).filter((text) => text.length > 25 && !known.includes(text));
}

const definition = (name: string) => new RegExp(`\\b(?:class|function|var|let|const) ${name}\\b(?! *[,}])`);

/** The names that a file defines; packages have methods of the same names. */
function listDefined(names: readonly string[], text: string): string[] {
  const there = new Set(words(text));
  return names.filter((name) => there.has(name) && definition(name).test(text));
}

describe('The build for production', () => {
  const out = mkdtempSync(join(tmpdir(), 'foyer-production-'));
  let files: string[];
  beforeAll(() => {
    execFileSync(process.execPath, [join(root, 'scripts/lib/bundle.mjs'), '--out', out], { cwd: root, stdio: 'pipe' });
    files = listFiles(out, /\.m?js$/);
  });
  afterAll(() => rmSync(out, { recursive: true, force: true }));

  it('The program of the server and the command line have no name and no text of the sandbox', () => {
    const [names, sentences] = [listSandboxNames(), listSandboxTexts()];
    expect([names.length > 100, sentences.length > 100]).toEqual([true, true]);
    const found = files.flatMap((file) => {
      const text = read(file);
      return [...listDefined(names, text), ...sentences.filter((sentence) => text.includes(sentence))];
    });
    expect(found).toEqual([]);
    expect(files.map((file) => relative(out, file))).toEqual(expect.arrayContaining(['start.js', 'cli.js']));
  });

  it('The sandbox’s program of the build for development has the same names and texts, so the search finds them', () => {
    const text = [...loadedWith('sandbox.js')].map(read).join('\n');
    const there = new Set(words(text));
    const inUse = [
      'StandInError',
      'createStripeStandIn',
      'createProviderStandIns',
      'buildSamlResponse',
      'createDemoApp',
    ];
    expect(listSandboxNames()).toEqual(expect.arrayContaining(inUse));
    expect(inUse.filter((name) => !there.has(name))).toEqual([]);
    expect(text).toContain('Sandbox: nothing here is real.');
  });

  it('The browser’s assets have no source of the sandbox', () => {
    const { input } = productConfig({ command: 'build', mode: 'production' }).build?.rolldownOptions ?? {};
    expect(input).toEqual(expect.arrayContaining(['client/foyer.css', 'client/hydrate.ts']));
    expect(JSON.stringify(input)).not.toContain('sandbox');
  });

  it.each(['tsconfig.json', 'tsconfig.production.json'])(
    'The project %s compiles no file of sandbox/ and test/',
    (project) => {
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const listed = execFileSync(process.execPath, [tsc, '-p', project, '--listFilesOnly'], {
        cwd: root,
        encoding: 'utf8',
      });
      const own = listed
        .split('\n')
        .map((file) => relative(root, file).replaceAll('\\', '/'))
        .filter((file) => /^\w/.test(file) && !file.startsWith('node_modules/'));
      expect(own).toEqual(expect.arrayContaining(['server/main.ts', 'views/page-context.ts', 'config/load.ts']));
      expect(own.filter((file) => /^(?:sandbox|test)\//.test(file))).toEqual([]);
    },
  );
});

/** The first file found that imports itself by way of others; `done` has those that do not. */
function findCircle(file: string, done: Set<string>, above: readonly string[] = []): string | undefined {
  if (above.includes(file)) return relative(run, file);
  if (done.has(file)) return undefined;
  for (const imported of staticImports(file)) {
    const found = findCircle(imported, done, [...above, file]);
    if (found !== undefined) return found;
  }
  done.add(file);
  return undefined;
}

describe('The joined files, which V8 parses and keeps as a whole', () => {
  const files = listFiles(run, /\.m?js$/);

  it('No file is larger than 1.8 MB: the memory to parse one of 7 MB, 27 MB, stayed with every process', () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => statSync(file).size > 1_800_000)).toEqual([]);
  });

  it('No file of the server has a character outside of ASCII, for which V8 would keep two bytes for each', () => {
    const ofServer = loadedWith('start.js');
    const ofCommands = [...loadedWith('cli.js')].filter((file) => !ofServer.has(file));
    const others = files.filter((file) => !ofCommands.includes(file));
    expect(others.filter((file) => /[^\0-\x7f]/.test(read(file)))).toEqual([]);
  });

  it.each(['start.js', 'cli.js', 'sandbox.js'])('No file that %s loads imports itself by way of others', (entry) => {
    expect(findCircle(join(run, entry), new Set())).toBeUndefined();
  });

  it('The server loads nothing of the command line', () => {
    const definitions = (entry: string) =>
      [...loadedWith(entry)].filter((file) => /\bfunction runCli\b|\bvar CommanderError\b/.test(read(file)));
    expect([definitions('start.js').length, definitions('cli.js').length]).toEqual([0, 2]);
  });
});

describe('A build for development', () => {
  it.each(['start.js', 'cli.js'])('A process of production that runs %s loads no code of the sandbox', (entry) => {
    const loaded = [...loadedWith(entry)];
    expect(loaded.length).toBeGreaterThan(1);
    const names = listSandboxNames();
    const found = loaded.flatMap((file) =>
      listDefined(names, read(file)).map((name) => `${relative(run, file)}: ${name}`),
    );
    expect(found).toEqual([]);
    // Nor the word that stands in it more than thirty times.
    expect(loaded.filter((file) => read(file).includes('StandInError'))).toEqual([]);
  });
});
