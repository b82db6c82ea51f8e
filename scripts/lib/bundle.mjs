/**
 * Joins what tsc has emitted with the packages that it imports, into few files. Node finds, reads and links some 1,400 modules
 * one by one, which is half of the processor time of a start; nothing else is changed: no name is shortened, and all that is
 * loaded at its first use stays a file of its own.
 *
 *     node scripts/lib/bundle.mjs
 */
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './paths.mjs';

const dist = join(root, 'dist');
const out = join(dist, 'run');

/** What `#start` and `#cli` of package.json lead to. */
const input = { start: join(dist, 'server/start.js'), cli: join(dist, 'server/cli/index.js') };

/** In a folder of this name Node takes what packages do that is deprecated for theirs, as it did when each was on its own. */
const packages = 'node_modules';

/** Stands for the way from a file of the output up to dist/. */
const way = '@@way-to-dist@@';

/**
 * Modules ask where they are to find files beside them: the answer stays what it was.
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
  // Machine code, which its own package chooses for this machine; and what pg tries where it is installed.
  external: [/^@node-rs\//, 'pg-native'],
  // Two packages ask Node for their own names by it; the rest of the warnings are on other people's code as well.
  logLevel: 'silent',
  plugins: [places()],
});
const { output } = await bundle.write({
  dir: out,
  format: 'esm',
  // A server that runs while this writes loads some of them later: they keep their names.
  entryFileNames: '[name].js',
  // In a folder of that name Node would have to read what kind of module a .js is.
  chunkFileNames: `${packages}/[name].mjs`,
});
await bundle.close();
const written = new Set(output.map(({ fileName }) => join(fileName)));
for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
  if (/\.m?js$/.test(name) && !written.has(name)) rmSync(join(out, name));
}
