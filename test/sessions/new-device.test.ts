import type { Outbox } from '../../server/messages/index.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend, backends } from '../support/stores.ts';

const windows =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const linux = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

describe.each(backends)('the mail about a sign-in from a new device on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const signIn = async (email: string, userAgent: string, browser: Browser = foyer.browser()) => {
    const answer = await browser.post('/sign-in', { username: email, password }, { 'user-agent': userAgent });
    expect(answer.status).toBe(303);
    return browser;
  };

  it('The first sign-in and a known device cause no mail', async () => {
    const { email } = await foyer.addUser();
    const browser = await signIn(email, windows);
    await signIn(email, windows, browser);
    // A known device stays known when its user agent changes.
    await signIn(email, linux, browser);
    expect(await foyer.mails(email)).toEqual([]);
  });

  it('The next device causes a mail with time, device and address in the user’s language', async () => {
    const user = await foyer.addUser({ locale: 'de', givenName: 'Ada' });
    await signIn(user.email, windows);
    await signIn(user.email, linux);
    const mails = await foyer.mails(user.email);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatchObject({
      template: 'new-device',
      subject: 'Anmeldung bei Foyer auf einem neuen Gerät',
      values: { givenName: 'Ada', device: 'Firefox unter Linux', address: '127.0.0.1', atMs: expect.any(Number) },
    });
    expect(mails[0]?.text).toContain('Gerät: Firefox unter Linux\nIP-Adresse: 127.0.0.1\n');
    expect(Math.abs(Number(mails[0]?.values.atMs) - foyer.deps.now())).toBeLessThan(60_000);
  });

  it('The next device is also a notification of security, which the bell counts', async () => {
    const user = await foyer.addUser({ locale: 'en' });
    const first = await signIn(user.email, windows);
    const bell = async () =>
      /class="header-bell".*?visually-hidden">([^<]+)</s.exec(await (await first.get('/settings')).text())?.[1];
    expect(await bell()).toBe('Notifications');
    await signIn(user.email, linux);
    await foyer.mails(user.email);
    const rows = await foyer.deps.database.db
      .selectFrom('notifications')
      .selectAll()
      .where('userId', '=', user.id)
      .execute();
    expect(rows).toMatchObject([
      {
        title: 'Sign-in from a new device',
        description: 'Firefox on Linux · 127.0.0.1',
        security: 1,
        status: 'unread',
      },
    ]);
    expect(await bell()).toBe('1 unread notification');
  });

  it('A browser without cookies causes one mail an hour, and another browser one at once', async () => {
    const { email } = await foyer.addUser();
    await signIn(email, windows);
    for (let times = 0; times < 3; times += 1) await signIn(email, linux);
    expect(await foyer.mails(email)).toHaveLength(1);
    await signIn(email, windows);
    expect(await foyer.mails(email)).toHaveLength(2);
  });

  it('A refused sign-in causes no mail', async () => {
    const { email } = await foyer.addUser();
    await signIn(email, windows);
    const answer = await foyer.browser().post('/sign-in', { username: email, password: 'not the password' });
    expect(answer.status).toBe(400);
    expect(await foyer.mails(email)).toEqual([]);
  });

  it('Of many first sign-ins at once all but one are new devices, and one mail reports them', async () => {
    const { email } = await foyer.addUser();
    await Promise.all(Array.from({ length: 8 }, () => signIn(email, linux)));
    expect(await foyer.mails(email)).toHaveLength(1);
  });

  it('The first sign-in after a new password causes no mail, because the password change had its own', async () => {
    const user = await foyer.addUser();
    await signIn(user.email, windows);
    const { db } = foyer.deps.database;
    await db.updateTable('users').set({ passwordEpoch: 1 }).where('id', '=', user.id).execute();
    await signIn(user.email, linux);
    expect(await foyer.mails(user.email)).toEqual([]);
    await signIn(user.email, windows);
    expect(await foyer.mails(user.email)).toHaveLength(1);
  });
});

it('A sign-in succeeds when its mail cannot be stored, and the next sign-in tries again', async () => {
  let broken = true;
  const foyer = await startFoyer(anyBackend);
  const { outbox } = foyer.deps;
  const add: Outbox['add'] = outbox.add.bind(outbox);
  outbox.add = async (...message) => {
    if (broken) throw new Error('the outbox is full');
    return add(...message);
  };
  try {
    const { email } = await foyer.addUser();
    const signIn = () => foyer.browser().post('/sign-in', { username: email, password });
    await signIn();
    expect((await signIn()).status).toBe(303);
    expect(foyer.logged()).toContain('could not mail about a new device');
    broken = false;
    await signIn();
    expect(await foyer.mails(email)).toHaveLength(1);
  } finally {
    await foyer.close();
  }
});
