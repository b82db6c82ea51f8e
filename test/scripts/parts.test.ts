import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findParts, missingParts, missingText, parseWithout, postgresMajor } from '../../scripts/lib/parts.mjs';

describe('FOYER_TEST_WITHOUT', () => {
  it.each([
    [undefined, []],
    ['', []],
    [' , ', []],
    ['redis', ['redis']],
    ['browser, redis,redis', ['redis', 'browser']],
    ['redis,postgres,browser', ['redis', 'postgres', 'browser']],
    ['stripe-reference', ['stripe-reference']],
  ])('The value %j leaves out %j', (value, parts) => {
    expect(parseWithout(value)).toEqual(parts);
  });

  it.each(['chromium', 'redis,postgresql', 'Redis', 'toString', 'all'])(
    'The value %j is an error that names the unknown part',
    (value) => {
      const word = value.split(',').at(-1);
      expect(() => parseWithout(value)).toThrow(
        `does not know "${word}". Write a comma list of: redis, postgres, browser, stripe-reference`,
      );
    },
  );
});

describe('missing parts', () => {
  it('A part that is needed and not found is missing', () => {
    const found = { redis: '/bin/redis-server', 'stripe-reference': '/reference' };
    expect(missingParts([], found)).toEqual(['postgres', 'browser']);
    expect(missingParts(['postgres', 'browser'], found)).toEqual([]);
  });

  it('A missing part is named with the command to install it and the way to leave it out', () => {
    const text = missingText(['redis', 'browser']);
    expect(text).toContain('  Redis (redis-server)\n  Chromium (chromium or google-chrome on the PATH');
    expect(text).toContain('sudo apt-get install -y --no-install-recommends redis-server chromium\n');
    expect(text).toContain('FOYER_TEST_WITHOUT=redis,browser npm test');
    expect(text).not.toMatch(/postgres/i);
  });

  it('A part that is in no package gets no install command', () => {
    const text = missingText(['stripe-reference']);
    expect(text).toContain(
      'in STRIPE_REFERENCE_DIR, or in ../shared/stripe beside this folder)\nPut it there\nor leave it out',
    );
    expect(text).not.toMatch(/apt-get|brew/);
    expect(missingText(['redis', 'stripe-reference'])).toContain(
      ' redis-server\n  macOS:           brew install redis\n',
    );
  });
});

describe('finding the programs', () => {
  let folder: string;
  const program = (path: string, script = 'exit 0') => {
    writeFileSync(join(folder, path), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, path), 0o755);
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parts-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('The search looks along the PATH', () => {
    program('redis-server');
    program('chromium-browser');
    const found = findParts({ PATH: `/nowhere::${folder}` });
    expect(found).toMatchObject({ redis: join(folder, 'redis-server'), browser: join(folder, 'chromium-browser') });
  });

  it('A folder or a file without permission to run is not a program', () => {
    mkdirSync(join(folder, 'redis-server'));
    writeFileSync(join(folder, 'chromium'), '');
    expect(findParts({ PATH: folder })).toMatchObject({ redis: undefined, browser: undefined });
  });

  it('The search takes the newest complete PostgreSQL of its own folders and none that is too old', () => {
    const versions = ['9.6', '12', '13', '16', '17'];
    for (const version of versions) {
      mkdirSync(join(folder, version, 'bin'), { recursive: true });
      program(`${version}/bin/postgres`, `echo "postgres (PostgreSQL) ${version}.1"`);
      if (version !== '17') program(`${version}/bin/initdb`);
    }
    expect(findParts({}, folder).postgres).toBe(join(folder, '16/bin'));
    for (const version of ['13', '16']) rmSync(join(folder, version), { recursive: true });
    expect(findParts({}, folder).postgres).toBeUndefined();
  });

  it('A CHROMIUM_PATH that does not exist is an error and selects no other browser', () => {
    program('chromium');
    expect(findParts({ PATH: folder, CHROMIUM_PATH: join(folder, 'chromium') }).browser).toBe(join(folder, 'chromium'));
    expect(() => findParts({ PATH: folder, CHROMIUM_PATH: '/no/chrome' })).toThrow('CHROMIUM_PATH is "/no/chrome"');
  });

  it('Stripe’s description counts when both of its files exist', () => {
    const look = () => findParts({ STRIPE_REFERENCE_DIR: folder })['stripe-reference'];
    writeFileSync(join(folder, 'spec3.trimmed.json'), '{}');
    expect(look()).toBeUndefined();
    writeFileSync(join(folder, 'fixtures3.json'), '{}');
    expect(look()).toBe(folder);
  });

  it.each([
    ['postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)', 15],
    ['postgres (PostgreSQL) 18beta1', 18],
    ['postgres (PostgreSQL) 9.6.24', 9],
    ['something else', 0],
  ])('The major version is read from %j', (text, major) => {
    expect(postgresMajor(text)).toBe(major);
  });
});
