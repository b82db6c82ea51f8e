import type { Request, Response } from 'express';
import { hostCookies } from '../../server/http/index.ts';
import { listRememberedDevices, sweepRememberedDevices } from '../../server/mfa/remembered-device-store.ts';
import { createRememberedDevices } from '../../server/mfa/remembered-devices.ts';
import { toUserId } from '../support/ids.ts';
import { backends, type OpenStores } from '../support/stores.ts';

const dayMs = 24 * 60 * 60_000;

/** A cookie jar without a browser: it sends back the cookies of each answer. */
function createBrowser(base = 'foyer_remembered') {
  let value = '';
  const req = () =>
    ({
      headers: { cookie: `${base}=${value}` },
      ip: '::ffff:203.0.113.7',
      get: () => 'x'.repeat(600),
    }) as unknown as Request;
  const res = {
    appendHeader: (_name: string, line: string) => {
      value = /^[^=]*=([^;]*)/.exec(line)?.[1] ?? '';
    },
  } as unknown as Response;
  return { req, res, value: () => value };
}

describe.each(backends)('remembered devices on $name', (backend) => {
  let stores: OpenStores;
  let nowMs = Date.UTC(2026, 10, 21);
  beforeAll(async () => {
    stores = await backend.open();
  });
  afterAll(() => stores?.destroy());

  const devices = () =>
    createRememberedDevices({ database: stores.database, cookies: hostCookies(false), days: 30, now: () => nowMs });

  it('A browser remembers at most five users, drops the oldest and gets a new secret each time', async () => {
    const [browser, rememberedDevices] = [createBrowser(), devices()];
    const users = Array.from({ length: 6 }, (_, n) => ({ id: toUserId(`member ${n}`), passwordEpoch: 0 }));
    for (const user of users) await rememberedDevices.remember(browser.req(), browser.res, user);
    const known = await Promise.all(
      users.map(async (user) => (await rememberedDevices.findRememberedDevice(browser.req(), user)) !== undefined),
    );
    expect(known).toEqual([false, true, true, true, true, true]);
    const before = browser.value();
    const [, second] = users;
    if (!second) throw new Error('no second member');
    await rememberedDevices.remember(browser.req(), browser.res, second);
    expect(browser.value()).not.toBe(before);
    expect(await listRememberedDevices(stores.database.db, second, nowMs)).toHaveLength(1);
    const device = await rememberedDevices.findRememberedDevice(browser.req(), second);
    expect(device).toMatchObject({ ip: '203.0.113.7', expiresAt: nowMs + 30 * dayMs });
    expect(device?.userAgent).toHaveLength(512);
    expect(
      await rememberedDevices.findRememberedDevice(browser.req(), { ...second, passwordEpoch: 1 }),
    ).toBeUndefined();
  });

  it('An expired device is not remembered and is swept', async () => {
    const [browser, rememberedDevices, user] = [
      createBrowser(),
      devices(),
      { id: toUserId('swept'), passwordEpoch: 0 },
    ];
    await rememberedDevices.remember(browser.req(), browser.res, user);
    nowMs += 30 * dayMs - 1;
    const device = await rememberedDevices.findRememberedDevice(browser.req(), user);
    expect(device).toBeDefined();
    if (device) await rememberedDevices.recordDeviceUse(browser.req(), device);
    expect((await rememberedDevices.findRememberedDevice(browser.req(), user))?.lastUsedAt).toBe(nowMs);
    nowMs += 1;
    expect(await rememberedDevices.findRememberedDevice(browser.req(), user)).toBeUndefined();
    expect(await sweepRememberedDevices(stores.database.db, nowMs - 1, 500)).toBe(0);
    expect(await sweepRememberedDevices(stores.database.db, nowMs, 4)).toBe(4);
    expect(await sweepRememberedDevices(stores.database.db, nowMs, 500)).toBe(3);
  });
});
