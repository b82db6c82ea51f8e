import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toPlanId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('/dashboard on $name', (backend) => {
  let foyer: TestFoyer;
  let member: User;
  let browser: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    member = await foyer.addUser({ planId: toPlanId('10') });
    browser = await foyer.signedIn(member);
  });
  afterAll(() => foyer?.close());

  const clients = () => foyer.deps.database.db;
  afterEach(async () => {
    await clients().deleteFrom('clients').execute();
  });
  const page = async (path = '/dashboard') => (await browser.get(path)).text();
  const tiles = (html: string) =>
    [...html.matchAll(/<li class="app-tile">.*?<\/li>/gs)].map(([tile]) => ({
      tile,
      name: /<bdi>(.*?)<\/bdi>/.exec(tile)?.[1],
      href: /<a class="button[^"]*" href="([^"]*)"/.exec(tile)?.[1]?.replaceAll('&amp;', '&'),
    }));

  it('A visitor is redirected to the sign-in and back to /dashboard', async () => {
    const visitor = foyer.browser();
    expect(locationOf(await visitor.get('/dashboard'))).toBe(`${foyer.url}/?redirect=%2Fdashboard`);
    expect((await visitor.post('/dashboard')).status).toBe(405);
  });

  it('A user must accept the terms before the dashboard is shown', async () => {
    const stale = await foyer.signedIn(await foyer.addUser({ acceptedTosVersion: null }));
    const { pathname, searchParams } = new URL(locationOf(await stale.get('/dashboard')));
    expect([pathname, searchParams.get('redirect')]).toEqual(['/tos', `${foyer.url}/dashboard`]);
  });

  it('A dashboard without apps has a message', async () => {
    expect(await page()).toContain('No apps yet');
  });

  it('Up to three apps have the pages of the account below them, more apps do not', async () => {
    const links = async () => [...(await page()).matchAll(/<a class="account-tile" href="[^"]+">.*?<strong>([^<]*)</g)];
    expect((await links()).map(([, label]) => label)).toEqual(['Security', 'Membership', 'Notifications']);
    for (const name of ['One', 'Two', 'Three']) await foyer.addClient({ name });
    expect(await links()).toHaveLength(3);
    await foyer.addClient({ name: 'Four' });
    expect(await links()).toEqual([]);
  });

  it('Each app has a tile with logo, fallback initial, name, host and a link to open it, or the reason that it has none', async () => {
    const { origin } = new URL('https://cdn.example/');
    await foyer.addClient({
      id: 'academy',
      name: 'Academy <b>',
      logo: `${origin}/a.png`,
      logbackUri: 'https://a.example/in',
    });
    await foyer.addClient({ id: 'plain', name: 'Plain' });
    const answer = await browser.get('/dashboard');
    expect(answer.headers.get('content-security-policy')).toContain(`img-src 'self' data: ${origin}`);
    const html = await answer.text();
    const [academy, plain] = tiles(html);
    expect(academy).toMatchObject({
      name: 'Academy &lt;b&gt;',
      href: `https://a.example/in?${new URLSearchParams({ iss: foyer.url })}`,
    });
    expect(academy?.tile).toMatch(/class="app-initial">A<.*<img src="https:\/\/cdn\.example\/a\.png" alt=""/s);
    expect(academy?.tile).toContain('>a.example</p>');
    expect(html).not.toContain('>academy</p>');
    expect(plain?.tile).toContain('>Sign in from the app itself.</p>');
    expect(academy?.tile).toMatch(/>Open<span class="visually-hidden"> .*Academy/);
    expect(plain).toMatchObject({ name: 'Plain', href: undefined });
    expect(html).not.toContain('class="search"');
    expect(html).toMatch(/<a href="\/dashboard" aria-current="page">Dashboard<\/a>/);
  });

  it('An app for other plans is not opened but links to the page that explains how to get it', async () => {
    await foyer.addClient({ id: 'pro', name: 'Pro', logbackUri: 'https://pro.example/in', requiredPlans: ['12'] });
    const [pro] = tiles(await page());
    expect(pro?.tile).toContain('Not in your plan');
    expect(pro?.tile).toContain('href="/not-in-plan?client_id=pro"');
    expect(pro?.tile).not.toContain('pro.example');
    await clients()
      .updateTable('users')
      .set({ planId: toPlanId('12') })
      .where('id', '=', member.id)
      .execute();
    expect(tiles(await page())[0]?.href).toContain('https://pro.example/in');
  });

  it('From nine apps on there is a search, which works without scripts', async () => {
    for (let at = 1; at <= 9; at += 1) await foyer.addClient({ id: `app-${at}`, name: `App ${at}` });
    const html = await page();
    expect(tiles(html)).toHaveLength(9);
    expect(html).toMatch(/<form class="search" action="\/dashboard">/);
    const one = await page('/dashboard?q=app%207');
    expect(tiles(one).map(({ name }) => name)).toEqual(['App 7']);
    expect(one).toContain('1 app found');
    const none = await page('/dashboard?q=%3Cscript%3E');
    expect(tiles(none)).toEqual([]);
    expect(none).toContain('No app is called “&lt;script&gt;”.');
    expect((await browser.get('/dashboard?q=a&q=b')).status).toBe(400);
    expect((await browser.get(`/dashboard?q=${'x'.repeat(5_000)}`)).status).toBe(200);
  });

  it('A list that cannot be loaded gives 503 with a message for 3 seconds and the rest of the page', async () => {
    await foyer.addClient({ id: 'broken' });
    await clients().updateTable('clients').set({ metadata: '{' }).execute();
    const answer = await browser.get('/dashboard');
    const html = await answer.text();
    expect(answer.status).toBe(503);
    expect(html).toContain('An error has occurred');
    expect(html).toContain('&quot;durationMs&quot;:3000');
    expect(html).toContain('Your apps can’t be shown right now');
    expect(html).toContain('<a href="/dashboard" aria-current="page">');
    expect(foyer.logged()).toContain('could not list the client apps');
  });

  it('Hidden clients and services are listed neither on the page nor by GET /clients', async () => {
    await foyer.addClient({ id: 'secret-app', name: 'Secret plans', hidden: true });
    await foyer.addClient({ id: 'batch', name: 'Batch', service: true, redirectUris: [], scopes: ['clients:read'] });
    await foyer.addClient({ id: 'open-app', name: 'Open app' });
    const html = await page('/dashboard?q=a');
    expect(tiles(html).map(({ name }) => name)).toEqual(['Open app']);
    expect(html).not.toMatch(/Secret|Batch|batch/);
    const listed = await (await browser.get('/clients', { from: 'same-origin' })).json();
    expect(listed).toEqual([{ client_id: 'open-app', client_name: 'Open app', client_logo: null, logback_uri: null }]);
  });
});
