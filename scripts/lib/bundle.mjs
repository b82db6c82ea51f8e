/**
 * Joins tsc's output with the imported packages into few files. Node finds, reads and links some 1,400 modules one by
 * one, which is half of the processor time of a start. Nothing else changes: no name is shortened, and modules that are
 * loaded on demand stay separate files.
 * node scripts/lib/bundle.mjs [--sandbox] [--out <folder>]
 */
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { root } from './processes.mjs';

const dist = join(root, 'dist');
const { values: options } = parseArgs({ options: { sandbox: { type: 'boolean' }, out: { type: 'string' } } });
const out = options.out ?? join(dist, 'run');

/** The targets of `#start`, `#cli` and, in development, `#sandbox` in package.json. */
const input = {
  start: join(dist, 'server/start.js'),
  cli: join(dist, 'server/cli/index.js'),
  ...(options.sandbox && { sandbox: join(dist, 'sandbox/start.js') }),
};

/** Node attributes deprecations to packages in a folder of this name, as for separate packages. */
const packages = 'node_modules';

/** Placeholder for the relative path from an output file to dist/. */
const way = '@@way-to-dist@@';

/**
 * Modules ask for their own place to find files beside them: the answer stays the original one.
 * @returns {import('rolldown').Plugin}
 */
function places() {
  return {
    name: 'places',
    transform: {
      filter: { code: /\bimport\.meta\./ },
      handler(code, id) {
        if (!id.startsWith(dist + sep)) return null;
        const folder = relative(dist, dirname(id)).replaceAll(sep, '/');
        const file = `joinPlace(placeOfFile, ${JSON.stringify(id.slice(dirname(id).length + 1))})`;
        const placed = code
          .replaceAll('import.meta.dirname', 'placeOfFile')
          .replaceAll('import.meta.filename', file)
          .replaceAll('import.meta.url', `urlOfPlace(${file}).href`);
        const head = [
          "import { join as joinPlace } from 'node:path';",
          "import { pathToFileURL as urlOfPlace } from 'node:url';",
          `const placeOfFile = joinPlace(import.meta.dirname, '${way}', '${folder}');`,
        ];
        return { code: `${head.join('\n')}\n${placed}`, map: null };
      },
    },
    renderChunk: (code, chunk) =>
      code.replaceAll(way, relative(dirname(join(out, chunk.fileName)), dist).replaceAll(sep, '/')),
  };
}

const bundle = await rolldown({
  input,
  platform: 'node',
  // Native code, which its own package selects for this machine; and pg's optional native part.
  external: [/^@node-rs\//, 'pg-native'],
  // Two packages need Node's names this way; the other warnings are about third-party code.
  logLevel: 'silent',
  plugins: [places()],
});
const { output } = await bundle.write({
  dir: out,
  format: 'esm',
  // A running server loads some of them later, so they keep their names.
  entryFileNames: '[name].js',
  // In a folder of that name Node would have to determine the module type of a .js file.
  chunkFileNames: `${packages}/[name].mjs`,
});
await bundle.close();
const written = new Set(output.map(({ fileName }) => join(fileName)));
for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
  if (/\.m?js$/.test(name) && !written.has(name)) rmSync(join(out, name));
}
