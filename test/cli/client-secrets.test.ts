import { cliOn } from '../support/cli.ts';
import { backends } from '../support/stores.ts';
import { shop } from './shop-client.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 1);
const startSeconds = startMs / 1000;

describe.each(backends)('the times of client secrets on $name', (backend) => {
  let foyer: ReturnType<typeof cliOn>;
  let remove: (() => Promise<void>) | undefined;
  let nowMs = startMs;
  beforeEach(async () => {
    nowMs = startMs;
    const reserved = await backend.reserve({ migrated: true });
    remove = reserved.remove;
    foyer = cliOn(reserved.urls, {}, () => nowMs);
    await foyer('client', 'add', ...shop);
  });
  afterEach(() => remove?.());

  const showJson = async () => (await foyer('client', 'show', 'shop', '--json')).json();
  const rotate = async (...options: string[]) =>
    (await foyer('client', 'update', 'shop', '--new-secret', '--json', ...options)).json();

  it('The command shows the creation time of the only secret, and none for a public client', async () => {
    nowMs += 400 * dayMs;
    expect(await showJson()).toMatchObject({ client_secret_created_at: startSeconds });
    expect(await showJson()).not.toHaveProperty('previous_secret_expires_at');
    const { out } = await foyer('client', 'show', 'shop');
    expect(out).toMatch(/^Client secret +created 2026-01-01T00:00:00\.000Z$/m);
    expect(out).not.toContain('Previous secret');
    await foyer('client', 'update', 'shop', '--public');
    expect(await showJson()).not.toHaveProperty('client_secret_created_at');
    expect((await foyer('client', 'show', 'shop')).out).not.toContain('Client secret');
  });

  it('After a rotation the command shows the times of both secrets until the old one ends', async () => {
    nowMs += dayMs;
    const times = {
      client_secret_created_at: startSeconds + 24 * 3600,
      previous_secret_expires_at: startSeconds + (24 + 48) * 3600,
    };
    expect(await rotate('--old-secret-for', '48')).toMatchObject({ ...times, client_secret_expires_at: 0 });
    expect(await showJson()).toMatchObject(times);
    expect((await foyer('client', 'show', 'shop')).out).toMatch(
      /^Previous secret +valid until 2026-01-04T00:00:00\.000Z, replaced 2026-01-02T00:00:00\.000Z$/m,
    );
    nowMs += 48 * hourMs - 1;
    expect(await showJson()).toHaveProperty('previous_secret_expires_at');
    nowMs += 1;
    expect(await showJson()).not.toHaveProperty('previous_secret_expires_at');
  });

  it('A change of the name keeps both secrets, --drop-old-secret ends the old one, and neither names a new one', async () => {
    await rotate();
    const before = await showJson();
    nowMs += hourMs;
    const renamed = await foyer('client', 'update', 'shop', '--name', 'Renamed');
    expect(renamed.out).not.toMatch(/stays valid|is void/);
    expect(await showJson()).toEqual({ ...before, client_name: 'Renamed' });
    await foyer('client', 'update', 'shop', '--drop-old-secret');
    const { previous_secret_expires_at: _, ...newest } = before;
    expect(await showJson()).toEqual({ ...newest, client_name: 'Renamed' });
  });
});
