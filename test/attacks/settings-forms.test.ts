import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

const hourMs = 60 * 60_000;

describe.each(backends)('the settings forms of a thief, counted, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '10000', GUESS_LIMIT_DEVICE: '10000' });
  });
  afterAll(() => foyer?.close());

  /** A form with a code for no pending change, so that it changes nothing. */
  const send = (browser: Browser) => browser.post('/settings/email/code', { code: '123456' });
  const sent = async (browser: Browser, times: number) => {
    const statuses: number[] = [];
    for (let n = 0; n < times; n += 1) statuses.push((await send(browser)).status);
    return statuses;
  };

  it('A thief who re-authenticates between the forms does not reset the count of the browser', async () => {
    const user = await foyer.addUser();
    const [thief, own] = [await foyer.signedIn(user), await foyer.signedIn(user)];
    for (let round = 0; round < 4; round += 1) {
      expect(await sent(thief, 10)).toEqual(Array(10).fill(303));
      expect((await thief.post('/re-authenticate', { password })).status).toBe(303);
    }
    const refused = await send(thief);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // Another browser of the user has its own count.
    expect(await sent(own, 40)).toEqual(Array(40).fill(303));
    expect((await send(own)).status).toBe(429);
  });

  it('A thief who signs in again for every 40 forms is stopped at the user’s 120 forms an hour', async () => {
    const user = await foyer.addUser();
    const statuses: number[] = [];
    for (let browser = 0; browser < 4; browser += 1) statuses.push(...(await sent(await foyer.signedIn(user), 35)));
    expect(statuses.filter((status) => status === 303)).toHaveLength(120);
    expect(statuses.slice(120)).toEqual(Array(20).fill(429));
    const other = await foyer.addUser();
    expect((await send(await foyer.signedIn(other))).status).toBe(303);
  });

  it('Of parallel forms of one browser exactly 40 are accepted', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    const answers = await Promise.all(Array.from({ length: 60 }, () => send(browser)));
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
    expect([count(303), count(429)]).toEqual([40, 20]);
  });

  it('The count of settings forms ends after an hour, not with the session', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    await sent(browser, 40);
    const keys = await foyer.deps.kv.count(`settings-forms-of:${user.id}`);
    expect(keys).toBe(40);
    const { expiresInMs } = await foyer.deps.kv.consumeCount(`settings-forms-of:${user.id}`, hourMs, 0);
    expect(expiresInMs).toBeGreaterThan(hourMs - 60_000);
    expect(expiresInMs).toBeLessThanOrEqual(hourMs);
  });
});
