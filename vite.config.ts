/**
 * The browser's assets: the stylesheet and every entry of client/entries/, with hashed names, into dist/client.
 * The server serves that folder at /assets/ and finds the names in manifest.json.
 */
import { existsSync, readdirSync } from 'node:fs';
import { defineConfig } from 'vite';

const ENTRIES = 'client/entries';

const entries = existsSync(ENTRIES)
  ? readdirSync(ENTRIES)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => `${ENTRIES}/${name}`)
  : [];

export default defineConfig({
  base: '/assets/',
  publicDir: false,
  build: {
    outDir: 'dist/client',
    emptyOutDir: true,
    assetsDir: '',
    manifest: 'manifest.json',
    // A data: address in a stylesheet or script would need a hole in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: ['client/foyer.css', ...entries] },
  },
});
