import { requestFactorReset } from '../../server/account/index.ts';
import { service, signedInto } from '../api/callers.ts';
import { giveTotp } from '../sign-in/factor-steps.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

interface Listed {
  items: { id: string; title: string; status: string; security: boolean }[];
  nextCursor: string | null;
}

const path = '/settings/notifications';

describe.each(backends)('notifications, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  async function tell(userId: string, titles: readonly string[], more: { security?: true } = {}): Promise<void> {
    const { outbox, database, outboxWorker } = foyer.deps;
    for (const title of titles) {
      const message = {
        channel: 'notification',
        userId: toUserId(userId),
        title,
        description: 'Line 1\nLine 2',
        category: 'task',
      } as const;
      await database.transaction((trx) => outbox.add(trx, { ...message, ...more }));
      // Ids of one millisecond have no order.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await outboxWorker.turn();
  }
  const json = { accept: 'application/json', 'sec-fetch-site': 'same-origin' };
  const list = async (browser: Browser, query = ''): Promise<Listed> =>
    (await (await browser.request(`/messages${query}`, { headers: json })).json()) as Listed;
  const pageOf = async (browser: Browser) => (await browser.get(path)).text();

  it('A service with messages:read lists the notifications of the member whom it names', async () => {
    const [user, other] = [await foyer.addUser(), await foyer.addUser()];
    await tell(user.id, ['for Ada']);
    await tell(other.id, ['for Bob']);
    const { token } = await service(foyer, ['messages:read']);
    const ask = (bearer: string, query: string) =>
      sendRequest(`${foyer.url}/messages${query}`, { headers: { authorization: `Bearer ${bearer}` } });
    const { items } = (await (await ask(token, `?userId=${user.id}`)).json()) as Listed;
    expect(items.map(({ title }) => title)).toEqual(['for Ada']);
    expect((await ask(token, '')).status).toBe(400);
    expect((await ask(token, '?userId=unknown')).status).toBe(404);
    const { token: sender } = await service(foyer, ['messages:send']);
    expect((await ask(sender, `?userId=${user.id}`)).status).toBe(403);
  });

  it('Attack: a member who names another member reads none of their notifications', async () => {
    const [user, other] = [await foyer.addUser(), await foyer.addUser()];
    await tell(other.id, ['for Bob']);
    const browser = await foyer.signedIn(user);
    expect((await browser.request(`/messages?userId=${other.id}`, { headers: json })).status).toBe(403);
  });

  it('GET /messages lists security changes first, then the newest, in pages without gaps, filtered by status', async () => {
    const user = await foyer.addUser();
    await tell(user.id, ['safe 1', 'safe 2'], { security: true });
    await tell(user.id, ['one', 'two', 'three']);
    const browser = await foyer.signedIn(user);
    const titles: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Listed = await list(browser, `?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      expect(page.items.length).toBeLessThanOrEqual(2);
      titles.push(...page.items.map(({ title }) => title));
      cursor = page.nextCursor;
    }
    expect(titles).toEqual(['safe 2', 'safe 1', 'three', 'two', 'one']);
    const [first] = (await list(browser)).items;
    await browser.postJson(`/messages/${first?.id}/read`, {});
    expect((await list(browser, '?status=read')).items.map(({ title }) => title)).toEqual(['safe 2']);
    expect((await list(browser, '?status=unread')).items).toHaveLength(4);
    for (const bad of ['?cursor=x', '?limit=0', '?limit=101', '?status=new']) {
      expect([bad, (await browser.request(`/messages${bad}`, { headers: json })).status]).toEqual([bad, 400]);
    }
  });

  it('POST /messages/{id}/read marks one and /messages/readAll the rest, also with a token of the user', async () => {
    const { user, tokens } = await signedInto(foyer);
    await tell(user.id, ['a', 'b', 'c']);
    const call = async (address: string, method = 'POST') => {
      const answer = await sendRequest(foyer.url + address, {
        method,
        headers: { authorization: `Bearer ${tokens.access_token}` },
      });
      return { status: answer.status, body: (await answer.json()) as Listed & { status: string; read: number } };
    };
    const { items } = (await call('/messages', 'GET')).body;
    expect(items).toHaveLength(3);
    const once = await call(`/messages/${items[0]?.id}/read`);
    expect([once.status, once.body.status]).toEqual([200, 'read']);
    expect((await call(`/messages/${items[0]?.id}/read`)).status).toBe(200);
    expect((await call('/messages/readAll')).body).toEqual({ read: 2 });
    expect((await call('/messages/readAll')).body).toEqual({ read: 0 });
  });

  it('A notification of another user gets 404 by call and by page and stays unread', async () => {
    const [user, other] = [await foyer.addUser(), await foyer.addUser()];
    await tell(user.id, ['mine']);
    const [mine, theirs] = [await foyer.signedIn(user), await foyer.signedIn(other)];
    const id = (await list(mine)).items[0]?.id ?? '';
    expect((await theirs.postJson(`/messages/${id}/read`, {})).status).toBe(404);
    expect((await theirs.post(path, { notification: id })).status).toBe(404);
    await theirs.post(path, { all: '1' });
    expect((await list(theirs)).items).toEqual([]);
    expect((await list(mine)).items[0]?.status).toBe('unread');
    const { token } = await service(foyer, ['messages:send']);
    const byService = await sendRequest(`${foyer.url}/messages`, { headers: { authorization: `Bearer ${token}` } });
    expect(byService.status).toBe(403);
    expect((await foyer.browser().request('/messages', { headers: json })).status).toBe(401);
    expect((await foyer.browser().get(path)).status).toBe(303);
  });

  it('The page header shows the number of unread notifications, and only the buttons mark them as read', async () => {
    const user = await foyer.addUser();
    await tell(user.id, ['first', '<b>second</b>']);
    const browser = await foyer.signedIn(user);
    expect(await (await browser.get('/settings')).text()).toContain('2 unread notifications');
    const page = await pageOf(browser);
    expect(page).toContain('&lt;b&gt;second&lt;/b&gt;');
    expect(page).not.toContain('<b>second</b>');
    // The time is relative, with the exact one in its attributes.
    expect(page).toMatch(/<time dateTime="\d{4}-\d\d-\d\dT[\d:.]+Z" title="[^"]+\sUTC">Now<\/time>/);
    // The button for all of them is above the list.
    expect(page.indexOf('Mark all as read')).toBeGreaterThan(page.indexOf('<h1'));
    expect(page.indexOf('Mark all as read')).toBeLessThan(page.indexOf('<li class="notification-row"'));
    expect(await pageOf(browser)).toContain('2 unread notifications');
    const id = /name="notification" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const marked = await browser.post(path, { notification: id });
    expect([marked.status, marked.headers.get('location')]).toEqual([303, path]);
    expect(await pageOf(browser)).toContain('1 unread notification<');
    expect(
      (
        await browser.post(
          path,
          { notification: id },
          { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
        )
      ).status,
    ).toBe(403);
    await browser.post(path, { all: '1' });
    const done = await pageOf(browser);
    expect([done.includes('unread notification'), done.includes('Mark as read')]).toEqual([false, false]);
  });

  it('A reset of the second factor by an operator is shown on the next page and first in the list, with a link to stop it', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    await giveTotp(foyer, user);
    const deps = { ...foyer.deps, publicUrl: foyer.url, brandName: 'Foyer' };
    expect((await requestFactorReset(deps, user.id, { waitMs: 72 * 3_600_000, bySms: false })).kind).toBe('asked');
    await tell(user.id, ['a later task']);
    expect(await (await browser.get('/settings/name')).text()).toContain('2 unread notifications');
    const page = await pageOf(browser);
    const box = /<div class="notice error"[\s\S]*?<\/div><\/div><\/div>/.exec(page)?.[0] ?? '';
    expect(box).toMatch(
      /<a class="button primary small" href="\/settings\/factor-reset"[^>]*>Keep two-step verification on</,
    );
    expect(box).toMatch(/<a class="button quiet small" href="\/settings\/password"[^>]*>Change password</);
    // The notice stands for its event: the list has it once the notice is gone.
    expect(page.match(/Two-step verification will be turned off/g)).toHaveLength(1);
    expect(page).toContain('a later task');
    // The header counts both; the list, which has one of them, gives no other number.
    expect(page.match(/\d+ unread notifications?/g)?.every((text) => text === '2 unread notifications')).toBe(true);
    const [first] = (await list(browser)).items;
    expect(first).toMatchObject({ security: true, status: 'unread' });
    await browser.post(path, { notification: first?.id ?? '' });
    expect((await list(browser)).items[0]).toMatchObject({ id: first?.id, status: 'read' });
  });
});
