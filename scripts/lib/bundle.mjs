/**
 * Joins tsc's output with the imported packages into few files. Node finds, reads and links some 1,400 modules one by
 * one, which is half of the processor time of a start. Nothing else changes: no name is shortened, and modules that are
 * loaded on demand stay separate files.
 * node scripts/lib/bundle.mjs [--sandbox] [--out <folder>]
 */
import { readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
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

/**
 * React's own switch: the server never runs its development version, which doubles the size of both.
 * @returns {import('rolldown').Plugin}
 */
const productionReact = () => ({
  name: 'production-react',
  transform: {
    filter: { id: /[\\/]node_modules[\\/]react(?:-dom)?[\\/]/, code: /process\.env\.NODE_ENV/ },
    handler: (code) => ({ code: code.replaceAll('process.env.NODE_ENV', '"production"'), map: null }),
  },
});

/**
 * An import of `node:http` reads every export of it, and three of them load undici with fetch and WebSocket (4 % of a
 * start). This module reads the others.
 * @returns {import('rolldown').Plugin}
 */
function httpAlone() {
  const id = '\0http-alone';
  const costly = ['CloseEvent', 'MessageEvent', 'WebSocket'];
  const names = Object.keys(http).filter((name) => !costly.includes(name));
  return {
    name: 'http-alone',
    resolveId: { filter: { id: /^(?:node:)?http$/ }, handler: () => id },
    load: {
      filter: { id: /http-alone$/ },
      handler: () =>
        `const http = process.getBuiltinModule('node:http');
export const { ${names.join(', ')} } = http;
export default http;`,
    },
  };
}

/**
 * V8 parses a file as a whole before it runs. The memory for that is free afterwards, but stays with the process: 27 MB
 * for all of this in one file, 5 MB as it is. A group has what its modules import, so that no earlier one imports a later
 * one: files that import each other would run in the wrong order.
 * @type {import('rolldown').CodeSplittingGroup[]}
 */
const groups = [
  { name: 'data', test: /[\\/](?:dist[\\/]locales|node_modules[\\/](?:mime-db|tldts|iconv-lite|entities))\b/ },
  { name: 'xml', test: /[\\/]node_modules[\\/](?:@node-saml|@xmldom|xml|xpath|sax)/ },
  { name: 'pages', test: /[\\/]node_modules[\\/](?:react|scheduler|markdown-it|i18next|kysely)/ },
  { name: 'oidc-library', test: /[\\/]node_modules[\\/](?:oidc-provider|openid-client|oauth4webapi|jose|@?koa)/ },
  { name: 'packages', test: /[\\/]node_modules[\\/]/ },
  { name: 'views', test: /[\\/]dist[\\/]views[\\/]/ },
  { name: 'billing', test: /[\\/]dist[\\/]server[\\/]billing[\\/]/ },
  { name: 'server', test: /[\\/]dist[\\/](?:server|config)[\\/]/ },
  // Each program loads what it uses at once; what is loaded on demand stays apart.
].map((group) => ({ ...group, tags: ['$initial'], entriesAware: true }));

const bundle = await rolldown({
  input,
  platform: 'node',
  // Native code, which its own package selects for this machine; and pg's optional native part.
  external: [/^@node-rs\//, 'pg-native'],
  // Two packages need Node's names this way; the other warnings are about third-party code.
  logLevel: 'silent',
  plugins: [places(), productionReact(), httpAlone()],
});
const { output } = await bundle.write({
  dir: out,
  format: 'esm',
  // A running server loads some of them later, so they keep their names.
  entryFileNames: '[name].js',
  // In a folder of that name Node would have to determine the module type of a .js file.
  chunkFileNames: `${packages}/[name].mjs`,
  codeSplitting: { groups },
  comments: false,
  // V8 keeps the text of a file in memory, with two bytes for each character if one of them is not in Latin-1.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
});
await bundle.close();
const written = new Set(output.map(({ fileName }) => join(fileName)));
for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
  if (/\.m?js$/.test(name) && !written.has(name)) rmSync(join(out, name));
}
