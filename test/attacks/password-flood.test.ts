import { setTimeout as sleep } from 'node:timers/promises';
import { schema } from '../../config/schema.ts';
import type { PasswordHasher, PasswordWork } from '../../server/password/index.ts';
import { boundedQueue } from '../../server/password/queue.ts';
import type { User } from '../../server/users/index.ts';
import { fresh, moveTo, undoPath, undoToken } from '../account/contact/steps.ts';
import { ask, codeFor, newPassword, resetPath } from '../password/steps.ts';
import { newAddress, profile } from '../sign-up/steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';
import { production, site } from './production.ts';
import { portOf, Visitor } from './wire.ts';

/** The product's password queue with one core; each job waits until the test lets it continue. */
function queuedHasher() {
  const queue = boundedQueue({ running: 1, waiting: 200, waitMs: 30_000 });
  const order: PasswordWork[] = [];
  const held = { gate: undefined as Promise<void> | undefined };
  const job = (work: PasswordWork, answer: () => boolean | string) =>
    queue.run(async () => {
      order.push(work);
      await held.gate;
      return answer();
    }, work);
  const hasher: PasswordHasher = {
    hash: async (given, work) => String(await job(work, () => `plain:${given}`)),
    verify: async (hash, given, work) => Boolean(await job(work, () => hash === `plain:${given}`)),
  };
  return { queue, hasher, order, held };
}

const stored = { passwordHash: `plain:${password}` };
const accountOf = (work: PasswordWork | undefined) => (typeof work === 'object' ? work.account : work);

/** Right passwords cost as much to check as wrong ones, so they are limited too. */
describe.each(backends)('attack: one user sends right passwords without end, on $name', (backend) => {
  let foyer: TestFoyer;
  const { queue, hasher, order, held } = queuedHasher();
  beforeAll(async () => {
    const defaults = schema.shape;
    const limits = {
      PASSWORD_LIMIT_DEVICE: String(defaults.PASSWORD_LIMIT_DEVICE.parse(undefined)),
      PASSWORD_LIMIT_MEMBER: String(defaults.PASSWORD_LIMIT_MEMBER.parse(undefined)),
    };
    foyer = await startFoyer(backend, { ...production, ...limits }, { passwords: hasher });
  });
  afterAll(() => foyer?.close());
  beforeEach(() => {
    order.length = 0;
    held.gate = undefined;
  });
  const at = (ip: string, jar?: Visitor['jar']) => new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip }, jar);
  const signIn = (visitor: Visitor, user: User) => visitor.post('/sign-in', { username: user.email, password });

  it('Of 216 right passwords at once over 12 devices most are refused at once, and another user is served next', async () => {
    const [mallory, ida] = [await foyer.addUser(stored), await foyer.addUser(stored)];
    const devices: Visitor[] = [];
    for (let n = 0; n < 12; n += 1) {
      const device = at('192.0.2.66');
      expect((await signIn(device, mallory)).status).toBe(303);
      devices.push(device);
    }
    order.length = 0;
    const open = Promise.withResolvers<void>();
    held.gate = open.promise;
    const answered: number[] = [];
    const burst = devices.flatMap((device) =>
      Array.from({ length: 18 }, async () => {
        const answer = await signIn(at('192.0.2.66', device.jar), mallory);
        answered.push(answer.status);
        return answer;
      }),
    );
    // All requests but the running and waiting ones are answered while the first one is still checked.
    await waitFor(() => expect(answered.length).toBe(216 - 4), 20_000);
    expect(queue.state()).toEqual({ running: 1, waiting: 3 });
    expect(new Set(answered)).toEqual(new Set([429]));
    const honest = signIn(at('203.0.113.9'), ida);
    await waitFor(() => expect(queue.state().waiting).toBe(4), 20_000);
    open.resolve();
    expect((await honest).status).toBe(303);
    const answers = await Promise.all(burst);
    expect(order.slice(0, 2).map(accountOf)).toEqual([mallory.email, ida.email]);
    expect(order).toHaveLength(1 + 4);
    for (const { headers } of answers.filter(({ status }) => status === 429)) {
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
  });

  it('Sign-ins to many accounts from one address take no more than the share of that address', async () => {
    const ida = await foyer.addUser(stored);
    const open = Promise.withResolvers<void>();
    held.gate = open.promise;
    const answered: number[] = [];
    const burst = Array.from({ length: 40 }, async (_, n) => {
      const answer = await at('192.0.2.67').post('/sign-in', {
        username: `stranger${n}@example.com`,
        password: 'wrong',
      });
      answered.push(answer.status);
    });
    await waitFor(() => expect(answered.length).toBe(40 - 10), 20_000);
    const honest = signIn(at('203.0.113.10'), ida);
    await waitFor(() => expect(queue.state().waiting).toBe(10), 20_000);
    open.resolve();
    expect((await honest).status).toBe(303);
    await Promise.all(burst);
    expect(accountOf(order[1])).toBe(ida.email);
  });

  it('The 31st check with one device’s cookie within an hour is refused, and the user signs in elsewhere', async () => {
    const user = await foyer.addUser(stored);
    const home = at('192.0.2.70');
    expect((await signIn(home, user)).status).toBe(303);
    const mark = async () => (await home.jar.getCookies(site)).find(({ key }) => key === '__Host-foyer_device');
    const device = await mark();
    for (let n = 0; n < 30; n += 1) expect((await signIn(home, user)).status).toBe(303);
    expect((await mark())?.value).toBe(device?.value);
    const refused = await signIn(home, user);
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    const checked = order.length;
    await signIn(home, user);
    expect(order.length).toBe(checked);
    expect((await home.get('/settings')).status).toBe(200);
    expect((await signIn(at('203.0.113.11'), user)).status).toBe(303);
  });

  it('The 61st right password of a user within an hour is refused on every device, and wrong ones do not count', async () => {
    const user = await foyer.addUser(stored);
    const wrong = await at('192.0.2.71').post('/sign-in', { username: user.email, password: 'wrong' });
    expect(wrong.status).toBe(400);
    for (let n = 0; n < 60; n += 1) expect((await signIn(at(`198.51.${n}.7`), user)).status).toBe(303);
    expect((await signIn(at('203.0.113.12'), user)).status).toBe(429);
  });
});

/** Every form and call that computes a hash shares the queue. */
describe.each(backends)('attack: filling the queue by another route than the sign-in, on $name', (backend) => {
  let foyer: TestFoyer;
  const { queue, hasher } = queuedHasher();
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' }, { passwords: hasher });
  });
  afterAll(() => foyer?.close());

  /** Runs `act` while the share of these jobs is full. */
  async function whileFull<T>(works: PasswordWork[], act: () => Promise<T>): Promise<T> {
    const open = Promise.withResolvers<void>();
    const jobs = works.flatMap((work) => Array.from({ length: 4 }, () => queue.run(() => open.promise, work)));
    await sleep(0);
    try {
      return await act();
    } finally {
      open.resolve();
      await Promise.all(jobs);
    }
  }
  const full = (account: string): PasswordWork[] => [
    { account, ip: '198.51.100.1' },
    { account, ip: '198.51.100.1', device: 'any' },
  ];
  const call = (path: string, body: object, browser: Browser) =>
    browser.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: foyer.url },
      body: JSON.stringify(body),
    });

  async function expectShared(account: string, act: () => Promise<Response>): Promise<void> {
    const answer = await whileFull(full(account), act);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '5']);
    // The same request succeeds once the share is free.
    expect((await act()).status).toBeLessThan(400);
  }

  it('A sign-in is refused with 429 while the account’s share of the queue is full', async () => {
    const user = await foyer.addUser(stored);
    await expectShared(user.email, () => foyer.browser().post('/sign-in', { username: user.email, password }));
  });

  it('A re-authentication is refused with 429 while the account’s share of the queue is full', async () => {
    const user = await foyer.addUser(stored);
    const browser = await foyer.signedIn(user);
    await expectShared(user.email, () => browser.post('/re-authenticate?redirect=/settings', { password }));
  });

  it('A password change by page or call is refused with 429 while the account’s share of the queue is full', async () => {
    const user = await foyer.addUser(stored);
    const browser = await foyer.signedIn(user);
    await expectShared(user.email, () =>
      browser.post('/settings/password', { old_password: password, new_password: newPassword }),
    );
    await expectShared(user.email, () =>
      call('/identity/changePassword', { oldPassword: newPassword, newPassword: password }, browser),
    );
  });

  it('A password reset by page or call is refused with 429 while the account’s share of the queue is full', async () => {
    const user = await foyer.addUser(stored);
    const browser = foyer.browser();
    await ask(browser, user.email);
    const fields = { code: await codeFor(foyer, user.email), password: newPassword, confirm: newPassword };
    await expectShared(user.email, () => browser.post(resetPath(user.email), fields));
    const other = await foyer.addUser(stored);
    const asked = await call('/identity/forgotPassword', { username: other.email }, foyer.browser());
    const { flow } = (await asked.json()) as { flow: string };
    const code = await codeFor(foyer, other.email);
    await expectShared(other.email, () =>
      call('/identity/forgotPasswordSubmit', { flow, code, newPassword }, foyer.browser()),
    );
  });

  it('Undoing a change of address is refused with 429 while the account’s share of the queue is full', async () => {
    const user = await foyer.addUser(stored);
    await moveTo(foyer, await foyer.signedIn(user), fresh().email);
    const token = await undoToken(foyer, user.email);
    await expectShared(user.email, () =>
      foyer.browser().post(undoPath(token), { token, password: newPassword, confirm: newPassword }),
    );
  });

  it('A sign-up by page or call is refused with 429 while the address’s share of the queue is full', async () => {
    const [first, second] = [newAddress(), newAddress()];
    await expectShared(first, () => foyer.browser().post('/signup', profile(first)));
    const { terms: _, ...body } = profile(second);
    await expectShared(second, () => call('/identity/signUp', body, foyer.browser()));
  });
});
