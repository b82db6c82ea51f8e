import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agrees } from '../../scripts/lib/install.mjs';
import { completed, missingEntries, platformOf } from '../../scripts/lib/lock-file.mjs';

const lockText = readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8');

describe('package-lock.json', () => {
  it('The lock file names no registry host', () => {
    expect(lockText).not.toMatch(/"resolved"|https?:\/\/[^"]*\/-\//);
  });

  it('The lock file has every optional package, or npm ci refuses it (npm run lock-file adds them)', () => {
    expect(missingEntries(JSON.parse(lockText))).toEqual([]);
  });
});

describe('completing a lock file', () => {
  const lock = {
    packages: {
      '': { optionalDependencies: { top: '1.0.0' } },
      'node_modules/top': { version: '1.0.0' },
      'node_modules/a': { dev: true, optionalDependencies: { '@a/linux-x64-musl': '2.0.0', top: '1.0.0' } },
      'node_modules/b/node_modules/c': { optionalDependencies: { near: '1.0.0', inner: '1.0.0' } },
      'node_modules/b/node_modules/near': { version: '1.0.0' },
      'node_modules/b/node_modules/c/node_modules/inner': { version: '1.0.0' },
    },
  };

  it('The search finds what has no entry where Node would look', () => {
    expect(missingEntries(lock)).toEqual([{ name: '@a/linux-x64-musl', version: '2.0.0', dev: true }]);
    const without = { packages: { ...lock.packages, 'node_modules/b/node_modules/near': undefined } };
    expect(missingEntries(JSON.parse(JSON.stringify(without))).map(({ name }) => name)).toContain('near');
  });

  it('The completion adds a missing entry, limited to its platform', () => {
    const entries = completed(lock).packages;
    expect(entries['node_modules/@a/linux-x64-musl']).toEqual({
      version: '2.0.0',
      cpu: ['x64'],
      dev: true,
      libc: ['musl'],
      optional: true,
      os: ['linux'],
    });
    expect(Object.keys(entries)[1]).toBe('node_modules/@a/linux-x64-musl');
  });

  it.each([
    ['@swc/core-win32-ia32-msvc', { os: ['win32'], cpu: ['ia32'] }],
    ['@unrs/resolver-binding-linux-arm-musleabihf', { os: ['linux'], cpu: ['arm'] }],
    ['@rolldown/binding-wasm32-wasi', { cpu: ['wasm32'] }],
    ['lightningcss-linux-arm64-gnu', { os: ['linux'], cpu: ['arm64'], libc: ['glibc'] }],
    ['fsevents', undefined],
  ])('The platform of %s is read from its name', (name, platform) => {
    expect(platformOf(name)).toEqual(platform);
  });

  it('The completion refuses to guess a platform or a version', () => {
    const unclear = { packages: { 'node_modules/a': { optionalDependencies: { fsevents: '2.3.3' } } } };
    expect(() => completed(unclear)).toThrow('fsevents 2.3.3');
    const range = { packages: { 'node_modules/a': { optionalDependencies: { 'a-linux-x64': '^1.0.0' } } } };
    expect(() => completed(range)).toThrow('a-linux-x64 ^1.0.0');
  });
});

describe('what npm has installed agrees with the lock file', () => {
  const wanted = {
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0', integrity: 'x' },
      'node_modules/b': { version: '1.0.0', optional: true },
    },
  };
  const present = (entries: Record<string, { version: string; integrity?: string }>) => ({ packages: entries });

  it('The installation agrees when everything is present, and optional packages may be absent', () => {
    expect(agrees(wanted, present({ 'node_modules/a': { version: '1.0.0', integrity: 'x' } }))).toBe(true);
  });

  it.each<[string, Record<string, { version: string; integrity?: string }>]>([
    ['nothing is there', {}],
    ['a package is missing', { 'node_modules/b': { version: '1.0.0' } }],
    ['a version differs', { 'node_modules/a': { version: '1.0.1', integrity: 'x' } }],
    ['the content differs', { 'node_modules/a': { version: '1.0.0', integrity: 'y' } }],
    [
      'an optional one is there in another version',
      { 'node_modules/a': { version: '1.0.0', integrity: 'x' }, 'node_modules/b': { version: '2.0.0' } },
    ],
  ])('The installation does not agree if %s', (_case, entries) => {
    expect(agrees(wanted, present(entries))).toBe(false);
  });

  it('An empty lock file agrees with nothing', () => {
    expect(agrees({}, present({}))).toBe(false);
  });
});
