import { recordEntry } from '../../server/audit/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';

const path = '/settings/activity';

describe.each(backends)('the page of the account activity on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('A member sees the own events alone, at once, and the list of devices links to them', async () => {
    const [ada, bob] = [await foyer.addUser(), await foyer.addUser()];
    const browser = await foyer.signedIn(ada);
    await foyer.browser().post('/sign-in', { username: ada.email, password: 'wrong' });
    await foyer.app.audit.seal();
    await (await foyer.signedIn(bob)).post('/settings/name', { given_name: 'B', family_name: 'B' });
    await browser.post('/settings/name', { given_name: 'Augusta', family_name: 'King' });
    expect(await (await browser.get('/settings?tab=device-data')).text()).toContain(`href="${path}"`);
    const html = await (await browser.get(path)).text();
    expect(html).toContain('You signed in');
    expect(html).toContain('1 refused attempt to sign in');
    expect(html.match(/Your name has been changed/g)).toHaveLength(1);
    expect(html.indexOf('Your name')).toBeLessThan(html.indexOf('You signed in'));
  });

  it('Older events are on further pages, without gaps and repetitions', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    for (let amountCents = 1; amountCents <= 60; amountCents += 1) {
      const details = { invoice: 'in_1', amountCents: amountCents * 100, currency: 'usd', plan: '10' };
      const event = { type: 'payment.made', details, subject: toUserId(user.id), atMs: 1_000 + amountCents } as const;
      await recordEntry(foyer.deps.database.db, event);
    }
    await foyer.app.audit.seal();
    const amounts: string[] = [];
    let next: string | undefined = path;
    while (next !== undefined) {
      const html: string = await (await browser.get(next)).text();
      amounts.push(...(html.match(/Payment: \$\d+/g) ?? []));
      next = /href="(\/settings\/activity\?before=\d+)"/.exec(html)?.[1];
    }
    expect(amounts).toHaveLength(60);
    expect(new Set(amounts).size).toBe(60);
  });

  it('Another member reads nothing with a foreign number, and a visitor is asked to sign in', async () => {
    const stranger = await foyer.signedIn(await foyer.addUser());
    const html = await (await stranger.get(`${path}?before=999999`)).text();
    expect(html).not.toContain('Payment:');
    expect((await stranger.get(`${path}?before=x%27`)).status).toBe(200);
    expect((await foyer.browser().get(path)).status).toBe(303);
  });
});
