import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianPackages } from '../../scripts/lib/foreign.mjs';
import { root } from '../../scripts/lib/processes.mjs';
import { missingText, parseWithout, parts } from '../../scripts/lib/services.mjs';

describe('FOYER_TEST_WITHOUT', () => {
  it.each([
    [undefined, []],
    ['', []],
    [' , ', []],
    ['browser, redis,redis', ['redis', 'browser']],
    ['stripe-reference', ['stripe-reference']],
  ])('The value %j leaves out %j', (value, left) => {
    expect(parseWithout(value)).toEqual(left);
  });

  it.each(['chromium', 'redis,postgresql', 'Redis', 'toString', 'all'])(
    'The value %j is an error that names the unknown part',
    (value) => {
      const word = value.split(',').at(-1);
      expect(() => parseWithout(value)).toThrow(
        `does not know "${word}". Write a comma list of: redis, postgres, browser, stripe-reference, foreign`,
      );
    },
  );
});

describe('missing parts', () => {
  it('A missing part is named with the command to install it and the way to leave it out', () => {
    const text = missingText(['redis', 'browser']);
    expect(text).toContain('  Redis (redis-server)\n  Chromium (chromium or google-chrome on the PATH');
    expect(text).toContain('sudo apt-get install -y --no-install-recommends redis-server chromium\n');
    expect(text).toContain('brew install redis chromium\n');
    expect(text).toContain('FOYER_TEST_WITHOUT=redis,browser npm test');
    expect(text).not.toMatch(/postgres/i);
  });

  it('A part that is in no package gets no install command', () => {
    const text = missingText(['stripe-reference']);
    expect(text).toContain(
      'in STRIPE_REFERENCE_DIR, or in ../shared/stripe beside this folder)\nPut it there\nor leave it out',
    );
    expect(text).not.toMatch(/apt-get|brew/);
  });
});

describe('the packages of foreign clients', () => {
  it('Missing packages of foreign clients are named, each in the command that installs them', () => {
    const text = missingText(['redis', 'foreign']);
    expect(text).toContain(`--no-install-recommends redis-server ${debianPackages.join(' ')}\n`);
    expect(missingText(['foreign'])).not.toContain('brew');
    expect(text).toContain('FOYER_TEST_WITHOUT=redis,foreign npm run test:all');
  });

  it('No package of a foreign client is a package of the product, unless the product’s own tests have it', () => {
    const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
    const foreign: { dependencies: object; devDependencies?: object } = read('test/foreign/packages/package.json');
    const { dependencies, devDependencies } = read('package.json');
    const shared = Object.keys(foreign.dependencies).filter((name) => name in dependencies || name in devDependencies);
    expect(shared.toSorted()).toEqual(
      [
        ...['express', 'express-session', 'oauth4webapi', 'openid-client', 'passport'],
        ...['passport-openidconnect', 'react', 'react-dom', 'typescript'],
      ].toSorted(),
    );
  });
});

describe('finding the parts', () => {
  const before = { ...process.env };
  let folder: string;
  const program = (name: string) => {
    writeFileSync(join(folder, name), '#!/bin/sh\n');
    chmodSync(join(folder, name), 0o755);
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parts-'));
    process.env.PATH = `/nowhere:${folder}`;
    delete process.env.CHROMIUM_PATH;
  });
  afterEach(() => {
    process.env.PATH = before.PATH;
    if (before.CHROMIUM_PATH !== undefined) process.env.CHROMIUM_PATH = before.CHROMIUM_PATH;
    if (before.STRIPE_REFERENCE_DIR === undefined) delete process.env.STRIPE_REFERENCE_DIR;
    else process.env.STRIPE_REFERENCE_DIR = before.STRIPE_REFERENCE_DIR;
    rmSync(folder, { recursive: true });
  });

  it('The search looks along the PATH', () => {
    expect(parts.browser.find()).toBeUndefined();
    program('google-chrome');
    program('chromium');
    expect(parts.browser.find()).toBe(join(folder, 'chromium'));
  });

  it('A CHROMIUM_PATH that does not exist is an error and selects no other browser', () => {
    program('chromium');
    process.env.CHROMIUM_PATH = join(folder, 'chromium');
    expect(parts.browser.find()).toBe(join(folder, 'chromium'));
    process.env.CHROMIUM_PATH = '/no/chrome';
    expect(() => parts.browser.find()).toThrow('CHROMIUM_PATH is "/no/chrome"');
    delete process.env.CHROMIUM_PATH;
  });

  it('The description of Stripe counts when both of its files exist', () => {
    process.env.STRIPE_REFERENCE_DIR = folder;
    writeFileSync(join(folder, 'spec3.trimmed.json'), '{}');
    expect(parts['stripe-reference'].find()).toBeUndefined();
    writeFileSync(join(folder, 'fixtures3.json'), '{}');
    expect(parts['stripe-reference'].find()).toBe(folder);
  });
});
