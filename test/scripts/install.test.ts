import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');

it('The lock file names no registry host', () => {
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved"|https?:\/\/[^"]*\/-\//);
});

describe('scripts/install.mjs', () => {
  const wanted = {
    '': {},
    'node_modules/a': { version: '1.0.0', integrity: 'x' },
    'node_modules/b': { version: '1.0.0', optional: true },
  };
  const present = { 'node_modules/a': { version: '1.0.0', integrity: 'x' } };
  let folder: string;
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
    chmodSync(join(folder, path), 0o755);
  };

  /** A project with these packages, and an `npm` that only notes its arguments. */
  function prepare(packages: Record<string, { version: string; integrity?: string }>, npm = 'exit 0'): void {
    mkdirSync(join(folder, 'scripts'));
    copyFileSync(join(root, 'scripts/install.mjs'), join(folder, 'scripts/install.mjs'));
    write('package-lock.json', JSON.stringify({ packages: wanted }));
    write('node_modules/.package-lock.json', JSON.stringify({ packages }));
    write('node_modules/.bin/node', '');
    write('bin/npm', `#!/bin/sh\necho "$@" > ${folder}/called\n${npm}\n`);
  }
  function install() {
    const env = { PATH: `${join(folder, 'node_modules/.bin')}:${join(folder, 'bin')}:${process.env.PATH}` };
    return spawnSync(process.execPath, ['scripts/install.mjs'], { cwd: folder, env, encoding: 'utf8' });
  }
  const called = () => existsSync(join(folder, 'called'));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'install-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('The script installs nothing when the packages are those of the lock file', () => {
    prepare(present);
    expect(install()).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(called()).toBe(false);
  });

  it.each([
    ['nothing is there', {}],
    ['a package is missing', { 'node_modules/b': { version: '1.0.0' } }],
    ['a version differs', { 'node_modules/a': { version: '1.0.1', integrity: 'x' } }],
    ['the content differs', { 'node_modules/a': { version: '1.0.0', integrity: 'y' } }],
    ['an optional package has another version', { ...present, 'node_modules/b': { version: '2.0.0' } }],
  ])('The script runs npm ci with the development packages if %s', (_case, packages) => {
    prepare(packages);
    expect(install()).toMatchObject({ status: 0, stdout: '' });
    expect(readFileSync(join(folder, 'called'), 'utf8')).toMatch(/^ci --include=dev /);
  });

  it('The script installs again after an install that failed', () => {
    prepare({}, 'exit 1');
    expect(install()).toMatchObject({ status: 1, stderr: expect.stringContaining('foyer: npm ci failed') });
    rmSync(join(folder, 'called'));
    install();
    expect(called()).toBe(true);
  });

  it('The script explains that an install without install scripts lacks Node 24', () => {
    prepare({}, `rm ${join(folder, 'node_modules/.bin/node')}`);
    expect(install()).toMatchObject({ status: 1, stderr: expect.stringContaining('ignore-scripts false') });
  });
});
