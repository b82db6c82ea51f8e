import { service } from '../api/callers.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail, toUserId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { bytesOf, entriesIn } from '../support/stored.ts';
import { backends } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';

const dayMs = 24 * 60 * 60_000;
const cap = 500;

describe.each(backends)('users and pending accounts that fill the stores, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const rowsOf = (userId: string) =>
    foyer.stores.database.db.selectFrom('notifications').selectAll().where('userId', '=', toUserId(userId)).execute();
  const insert = async (userId: string, count: number, more: { security?: number; createdAt?: number } = {}) => {
    const { security = 0, createdAt = foyer.deps.now() } = more;
    const rows = Array.from({ length: count }, (_, at) => ({
      id: `${userId}-${security}-${createdAt}-${String(at).padStart(5, '0')}`,
      userId: toUserId(userId),
      title: `Old ${at}`,
      description: 'x',
      category: 'c',
      details: '{}',
      status: 'unread' as const,
      security,
      createdAt: createdAt + at,
      updatedAt: createdAt + at,
    }));
    await foyer.stores.database.db.insertInto('notifications').values(rows).execute();
  };

  it('Of a user’s notifications to themselves 500 are kept: the oldest are deleted and a security notice stays', async () => {
    const user = await foyer.addUser();
    await insert(user.id, 1, { security: 1, createdAt: foyer.deps.now() - 10 * dayMs });
    await insert(user.id, cap - 1, { createdAt: foyer.deps.now() - dayMs });
    const browser = await foyer.signedIn(user);
    const big = { title: 'New', description: 'd'.repeat(4_000), category: 'task' };
    for (let sent = 0; sent < 20; sent += 1) expect((await browser.postJson('/message/sent', big)).status).toBe(200);
    await foyer.deps.outboxWorker.turn();
    const rows = await rowsOf(user.id);
    expect(rows).toHaveLength(cap);
    expect(rows.filter(({ title }) => title === 'New')).toHaveLength(20);
    expect(rows.filter(({ security }) => security === 1)).toHaveLength(1);
    const old = rows.filter(({ title, security }) => title.startsWith('Old') && security === 0);
    // The twenty oldest sessions are gone.
    expect(Math.min(...old.map(({ title }) => Number(title.slice(4))))).toBe(20);
  });

  it('One user gets 500 notifications a day from all senders together', async () => {
    const user = await foyer.addUser();
    await foyer.deps.kv.consumeCount(`messages-to:${user.id}`, dayMs, cap - 1);
    const { token } = await service(foyer, ['messages:send']);
    const send = () =>
      sendRequest(`${foyer.url}/message/sent`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ title: 't', description: 'd', category: 'c', userId: user.id }),
      });
    const [last, refused] = [await send(), await send()];
    expect([last.status, refused.status]).toEqual([200, 429]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_600);
    const browser = await foyer.signedIn(user);
    const own = await browser.postJson('/message/sent', { title: 't', description: 'd', category: 'c' });
    expect(own.status).toBe(429);
  });

  it('A caller of the API creates no security notice with the category or field "security"', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const body = { title: 't', description: 'd', category: 'security', security: true };
    expect((await browser.postJson('/message/sent', body)).status).toBe(200);
    await foyer.deps.outboxWorker.turn();
    expect((await rowsOf(user.id)).map(({ security }) => security)).toEqual([0]);
  });

  it('The sweep deletes notifications that are older than 90 days or beyond the 500 newest', async () => {
    const [old, many] = [await foyer.addUser(), await foyer.addUser()];
    await insert(old.id, 700, { createdAt: foyer.deps.now() - 91 * dayMs });
    await insert(old.id, 1, { createdAt: foyer.deps.now() - 89 * dayMs });
    await insert(many.id, cap + 50);
    foyer.deps.outboxWorker.start();
    await waitFor(async () => {
      expect([(await rowsOf(old.id)).length, (await rowsOf(many.id)).length]).toEqual([1, cap]);
    }, 10_000);
  });

  it('The export contains all notifications of a user', async () => {
    const user = await foyer.addUser();
    await insert(user.id, 250);
    const browser = await foyer.signedIn(user);
    const data = (await (await browser.post('/settings/data')).json()) as { messages: { notifications: object[] } };
    expect(data.messages.notifications).toHaveLength(250);
  });

  it('Of 600 protected forms of an old session 40 are processed, and one row, cut to its field, is kept for a page', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    foyer.passTime(11 * 60_000);
    const before = new Set((await entriesIn(foyer.stores)).map(({ key }) => key));
    const statuses = new Map<number, number>();
    for (let sent = 0; sent < 600; sent += 1) {
      const path = sent % 2 === 0 ? '/settings/phone' : `/settings/passkeys/rename?id=${crypto.randomUUID()}`;
      const fields = { phone_number: '1'.repeat(6_000), name: 'n'.repeat(6_000) };
      const { status } = await browser.post(sent % 3 === 0 ? '/settings/email' : path, {
        ...fields,
        email: '@'.repeat(900),
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 303: 40, 429: 560 });
    const kept = (await entriesIn(foyer.stores, 'settings-stash:')).filter(({ key }) => !before.has(key));
    expect(kept.length).toBeLessThanOrEqual(3);
    expect(bytesOf(kept)).toBeLessThan(3_000);
  });

  it('A kept form comes back once, only in its own page and browser', async () => {
    const user = await foyer.addUser();
    const [browser, other] = [await foyer.signedIn(user), await foyer.signedIn(user)];
    foyer.passTime(11 * 60_000);
    const late = await browser.post('/settings/email', { email: 'typed-late@example.com' });
    expect(late.headers.get('location')).toBe('/re-authenticate?redirect=%2Fsettings%2Femail');
    for (const who of [browser, other]) await who.post('/re-authenticate', { password });
    const shows = async (who: typeof browser) =>
      (await (await who.get('/settings/email')).text()).includes('typed-late@example.com');
    expect([await shows(other), await shows(browser), await shows(browser)]).toEqual([false, true, false]);
  });

  it('A sign-up with a query of 14,000 characters keeps at most 1,000 and no state beside a pending request', async () => {
    const terms = String(foyer.deps.terms.number);
    const begin = async (email: string, search: Record<string, string>) => {
      const profile = { given_name: 'A', family_name: 'B', email, password: 'a long enough 1', terms };
      const answer = await foyer.browser().post(`/signup?${new URLSearchParams(search)}`, profile);
      expect(answer.status).toBe(303);
      const row = await foyer.stores.database.db
        .selectFrom('signUps')
        .select('errand')
        .where('email', '=', toNormalisedEmail(email))
        .executeTakeFirstOrThrow();
      return row.errand;
    };
    const long = 'x'.repeat(1_990);
    const ids = { client_id: 'some-client', authorization_code: 'some-request' };
    const ours = `${foyer.url}/settings`;
    const kept = await begin('errand1@example.com', {
      ...ids,
      state: long,
      redirect_uri: `https://app.example.com/${long.slice(50)}`,
      forceAuth: long,
      redirect: ours,
      planHash: 'p'.repeat(1_990),
    });
    expect(Object.fromEntries(new URLSearchParams(kept))).toEqual({ ...ids, redirect: ours });
    const worst = await begin('errand2@example.com', {
      client_id: 'ü'.repeat(100),
      authorization_code: 'ü'.repeat(100),
      redirect: `${foyer.url}/${'ü'.repeat(400)}`,
      planHash: 'ü'.repeat(100),
    });
    expect(worst.length).toBeLessThanOrEqual(1_000);
    const short = { client_id: 'some-client', redirect_uri: 'https://app.example.com/', state: 's' };
    expect(Object.fromEntries(new URLSearchParams(await begin('errand3@example.com', short)))).toEqual(short);
  });
});
