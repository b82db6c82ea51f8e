import { rateLimits, toCounterKey } from '../../server/http/index.ts';
import { locationOf, noticeOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { backends } from '../support/stores.ts';
import { address, limits, post, rows } from './http-rows.ts';

describe.each(backends)('a limit of the table that is full, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    foyer = await startFoyer(backend, { ...providers.environment() });
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  it.each(rows)(
    'The full limit $limit refuses one more request with the time to wait and counts it nowhere',
    async ({ limit: name, at = 0, reach, notice }) => {
      const { kv } = foyer.deps;
      const { window, counters } = limits[name];
      const counter = counters[at];
      if (counter === undefined) throw new Error(`no counter ${at} of ${name}`);
      const { value, send } = await reach(foyer);
      const key = toCounterKey(counter, value);
      const others = counters
        .filter(({ by }) => by === 'address' || by === 'overall')
        .map((one) => (one.by === 'overall' ? one.key : toCounterKey(one, address)))
        .filter((other) => other !== key);
      await kv.consumeCount(key, counter.window ?? window, counter.max - (await kv.count(key)));
      const before = await Promise.all(others.map((other) => kv.count(other)));

      const refused = await send();
      if (notice === undefined) {
        expect(refused.status).toBe(429);
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      } else {
        expect(noticeOf(locationOf(refused))).toBe(notice);
      }
      expect(await kv.count(key)).toBe(counter.max);
      expect(await Promise.all(others.map((other) => kv.count(other)))).toEqual(before);

      await kv.delete(key);
      expect((await send()).status).not.toBe(429);
    },
  );

  it('The header RateLimit-Policy names the limits of the protocol routes and of the calls', async () => {
    const policyOf = async (path: string) => (await post(foyer, path, {})).headers.get('ratelimit-policy');
    expect(await policyOf('/oauth2/par')).toMatch(/^"pushed-requests"; q=1200; w=60/);
    expect(await policyOf('/oauth2/device_authorization')).toMatch(/^"device-requests"; q=60; w=60/);
    expect(await policyOf('/identity/signUp')).toMatch(/^"api:signUp"; q=30; w=60/);
    expect(rateLimits.pushedRequest.counters[0].max).toBe(1_200);
  });
});
