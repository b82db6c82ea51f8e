/**
 * The browser's assets: the stylesheet, every entry of client/entries/ and the loader of islands with what it loads,
 * with hashed names, into dist/client; what shrinks also as .br and .gz. The server offers that folder at /assets/ and
 * finds the names in manifest.json.
 */
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const ENTRIES = 'client/entries';

const entries = existsSync(ENTRIES)
  ? readdirSync(ENTRIES)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => `${ENTRIES}/${name}`)
  : [];

/** Writes what the server would otherwise compress for every visitor, as small as it gets. */
async function pack(path: string): Promise<void> {
  const content = await readFile(path);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  await Promise.all([
    promisify(brotliCompress)(content, { params }).then((packed) => writeFile(`${path}.br`, packed)),
    promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }).then((packed) => writeFile(`${path}.gz`, packed)),
  ]);
}

function precompress(): Plugin {
  return {
    name: 'precompress',
    // What a test builds for itself is read once, on this machine.
    apply: (_config, { command, mode }) => command === 'build' && mode === 'production',
    async writeBundle({ dir = '' }, bundle) {
      const names = Object.keys(bundle).filter((name) => /\.(css|js|svg)$/.test(name));
      await Promise.all(names.map((name) => pack(join(dir, name))));
    },
  };
}

/** Vite wraps each `import()` in 2 KB that preload what the imported code needs; ours needs nothing beside itself. */
function plainImports(): Plugin {
  const helper = '\0vite/preload-helper.js';
  const wrapped = /__vitePreload\(\(\) => (import\([^()]*\)(?:\.then\(\(\w+\) => [\w.]+\))?), __VITE_PRELOAD__\)/g;
  return {
    name: 'plain-imports',
    apply: 'build',
    enforce: 'pre',
    // One for each importer: chunks would import it from each other.
    resolveId: {
      filter: { id: /preload-helper/ },
      handler: (id, importer) => (id === helper ? `${helper}?${importer}` : null),
    },
    load: {
      filter: { id: /preload-helper/ },
      handler: (id) => (id.startsWith(helper) ? 'export const __vitePreload = (load) => load();' : null),
    },
    renderChunk: (code) => code.replace(wrapped, '$1'),
  };
}

/** Preact, what starts it, and what several islands share: one file, so that no island has to ask for a third one. */
const shared =
  /node_modules|client\/(root|keys|panels|stripe)\.ts|views\/parts\/(button|error-summary|field|hidden-fields|icon|island|notice|reveal|script)\.tsx/;

/**
 * The browser gets Preact under React's names, a sixth of the bytes for the same components. The mode `react` builds with
 * React itself, which reports whatever hydration finds different.
 */
const preact = {
  'react/jsx-runtime': fileURLToPath(import.meta.resolve('preact/jsx-runtime')),
  'react-dom/client': fileURLToPath(import.meta.resolve('preact/compat/client')),
  react: fileURLToPath(import.meta.resolve('preact/compat')),
};

export default defineConfig(({ mode }) => ({
  resolve: { alias: mode === 'react' ? {} : preact },
  base: '/assets/',
  publicDir: false,
  plugins: [plainImports(), precompress()],
  build: {
    outDir: 'dist/client',
    emptyOutDir: true,
    assetsDir: '',
    manifest: 'manifest.json',
    // A data: address in a stylesheet or script would need a hole in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: false,
    rolldownOptions: {
      // Compressing takes its time, and is meant to.
      checks: { pluginTimings: false },
      input: [
        ...['foyer', 'checkout', 'apps', 'device', 'enrolment', 'terms', 'api-reference'].map(
          (name) => `client/${name}.css`,
        ),
        'client/hydrate.ts',
        ...entries,
      ],
      output: {
        entryFileNames: '[name]-[hash].js',
        codeSplitting: { groups: [{ name: 'shared', test: shared }] },
      },
    },
  },
}));
