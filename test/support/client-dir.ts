import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const built = join(root, 'dist', 'client');
let fixture: string | undefined;

/** A folder like Vite's output, with empty files, so that pages can name them. */
function writeFixture(): string {
  const dir = mkdtempSync(join(tmpdir(), 'foyer-client-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const entries = readdirSync(join(root, 'client', 'entries')).filter((name) => /^[^.]+\.ts$/.test(name));
  const sources = [
    'client/hydrate.ts',
    'client/api-reference.css',
    'client/apps.css',
    'client/device.css',
    'client/checkout.css',
    'client/enrolment.css',
    'client/terms.css',
    'sandbox/client/sandbox.css',
    ...entries.map((name) => `client/entries/${name}`),
  ];
  // Foyer only serves names with a hash of eight characters.
  const named = (source: string) =>
    source
      .replace(/^.*\//, '')
      .replace(/\.(\w+)$/, '-fixture0.$1')
      .replace(/ts$/, 'js');
  const style = {
    file: 'foyer-fixture0.css',
    assets: ['figtree-latin-wght-normal-fixture0.woff2', 'icon-fixture0.svg'],
  };
  const manifest = {
    ...Object.fromEntries(sources.map((source) => [source, { file: named(source) }])),
    'client/foyer.css': style,
  };
  mkdirSync(join(dir, 'stand-in'));
  for (const name of [...sources.map(named), style.file, ...style.assets, 'stand-in/stripe-js.js']) {
    writeFileSync(join(dir, name), '');
  }
  writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest));
  return dir;
}

/** The built client; before a build a fixture (`npm run test:quick`). */
export function clientDir(): string {
  if (existsSync(join(built, 'manifest.json'))) return built;
  fixture ??= writeFixture();
  return fixture;
}
