import { rotationTimes } from '../../server/cli/keys.ts';
import { createBoxes } from '../../server/deps.ts';
import { ensureKeys, publicMetadataSeconds } from '../../server/oidc/index.ts';
import { openDatabase } from '../../server/store/index.ts';
import { type Cli, cliOn, cliSecretKey } from '../support/cli.ts';
import { sharedKeys } from '../support/signing-keys.ts';
import { backends, type StoreUrls } from '../support/stores.ts';

const dayMs = 24 * 60 * 60 * 1000;

describe('rotationTimes', () => {
  it('New keys sign once every process and cache has them, and old keys stay published longer than every session', () => {
    expect(rotationTimes(1_000, { keysRefreshSeconds: 5, rememberMeDays: 30, atOnce: false })).toEqual({
      signsFrom: 1_000 + (publicMetadataSeconds + 10) * 1000,
      keptUntil: 1_000 + (publicMetadataSeconds + 10) * 1000 + 31 * dayMs,
    });
    expect(rotationTimes(1_000, { keysRefreshSeconds: 5, rememberMeDays: 30, atOnce: true })).toEqual({
      signsFrom: 1_000,
      keptUntil: 1_000 + 31 * dayMs,
    });
  });
});

interface Key {
  kid: string;
  alg: string;
  state: string;
  signs_from: number;
  published_until: number | null;
}

describe.each(backends)('foyer keys on $name', (backend) => {
  let foyer: Cli;
  let own: StoreUrls;
  let remove: () => Promise<void>;
  let now: number;
  beforeEach(async () => {
    ({ urls: own, remove } = await backend.reserve({ migrated: true }));
    now = Date.UTC(2026, 10, 21, 9, 30);
    foyer = cliOn(own, {}, () => now);
  });
  afterEach(() => remove());

  /** As the first start of Foyer makes them. */
  async function firstKeys({ databaseUrl: url, dataDir } = own): Promise<void> {
    const database = await openDatabase({ url, dataDir });
    await ensureKeys(database, createBoxes([cliSecretKey]).keys, { nowMs: now, makeKeys: sharedKeys }).finally(() =>
      database.close(),
    );
  }

  const keys = async () => (await foyer('keys', 'list', '--json')).json<Key[]>();
  const states = async (alg = 'ES256') => (await keys()).filter((key) => key.alg === alg).map(({ state }) => state);

  it('Listing keys before any exist prints that there are none', async () => {
    expect(await foyer('keys', 'list')).toMatchObject({
      code: 0,
      out: 'No keys yet: the first start of Foyer makes them.\n',
    });
    expect(await keys()).toEqual([]);
  });

  it('Rotating keys before any exist creates the first ones', async () => {
    expect((await foyer('keys', 'rotate')).out).toMatch(/^There were no keys yet/);
    expect(await keys()).toEqual(
      ['ES256', 'RS256'].map((alg) => ({
        kid: expect.any(String),
        alg,
        state: 'active',
        created_at: now / 1000,
        signs_from: now / 1000,
        published_until: null,
      })),
    );
  });

  it('Rotating publishes new keys, prints when they sign and keeps the old ones', async () => {
    await firstKeys();
    const run = await foyer('keys', 'rotate');
    expect(run.out).toContain('sign from 2026-11-21 09:31:10 UTC (in 70 s)');
    expect(run.out).toContain('published until 2026-12-22 09:31:10 UTC');
    expect(await states()).toEqual(['next', 'active']);
    now += 69_999;
    expect(await states()).toEqual(['next', 'active']);
    now += 1;
    expect(await states()).toEqual(['active', 'retired']);
    expect(await states('RS256')).toEqual(['active', 'retired']);
    now += 31 * dayMs;
    expect(await states()).toEqual(['active']);
  });

  it('Rotating with --json prints the same in seconds', async () => {
    await firstKeys();
    const rotated = (await foyer('keys', 'rotate', '--json')).json<{ keys: Key[] }>();
    expect(rotated).toEqual({
      signs_from: now / 1000 + 70,
      old_published_until: now / 1000 + 70 + (31 * dayMs) / 1000,
      keys: await keys(),
    });
    expect(rotated.keys).toHaveLength(4);
  });

  it('Rotating with --now signs at once and prints what that means', async () => {
    await firstKeys();
    now += 1;
    const run = await foyer('keys', 'rotate', '--now');
    expect(await states()).toEqual(['active', 'retired']);
    expect(run.out).toMatch(/New keys sign at once: every running Foyer takes them up within 5 s/);
    expect(run.out).toMatch(/may refuse new tokens until it reads them again/);
    expect(run.out).toMatch(/still accepts an id token that an attacker signs with a leaked one/);
  });

  it('Keys that waited when --now was used never sign', async () => {
    await firstKeys();
    now += 1_000;
    await foyer('keys', 'rotate');
    const waiting = (await keys())[0]?.kid;
    now += 1_000;
    await foyer('keys', 'rotate', '--now');
    const newest = (await keys())[0]?.kid;
    expect((await foyer('keys', 'list')).out).toMatch(
      new RegExp(`^${waiting} +ES256 +retired \\(verifies\\) +never `, 'm'),
    );
    now += 3_600_000;
    expect((await keys()).filter(({ state, alg }) => state === 'active' && alg === 'ES256')).toMatchObject([
      { kid: newest },
    ]);
    expect(waiting).not.toBe(newest);
  });

  it('The rotation follows KEYS_REFRESH_SECONDS and REMEMBER_ME_DAYS', async () => {
    const { urls, remove: removeOthers } = await backend.reserve({ migrated: true });
    try {
      const slow = cliOn(urls, { KEYS_REFRESH_SECONDS: '60', REMEMBER_ME_DAYS: '1' }, () => now);
      await firstKeys(urls);
      expect((await slow('keys', 'rotate', '--json')).json()).toMatchObject({
        signs_from: now / 1000 + 180,
        old_published_until: now / 1000 + 180 + 2 * 86_400,
      });
    } finally {
      await removeOthers();
    }
  });
});
