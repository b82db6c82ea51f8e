import type { User } from '../../server/users/index.ts';
import { appCode, memberWithTotp, show, toChallenge } from '../sign-in/factor-steps.ts';
import { Browser } from '../support/browser.ts';
import { type Cli, cliOf } from '../support/cli.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { sidOf, type ToldApp, toldApp } from '../support/told-app.ts';

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
interface Listed {
  id: string;
  kind: string;
  device: string;
  client_ids: string[];
  created_at: number;
}

describe.each(backends)('foyer user sessions on $name', (backend) => {
  let foyer: TestFoyer;
  let app: ToldApp;
  let cli: Cli;
  let user: User;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    app = await toldApp(foyer);
    cli = cliOf(foyer);
  });
  beforeEach(async () => {
    user = await foyer.addUser();
  });
  afterAll(async () => {
    await app?.close();
    await foyer?.close();
  });

  const sessions = (...options: string[]) => cli('user', 'sessions', user.email, ...options);
  const listed = async () => (await sessions('--json')).json<Listed[]>();
  const isSignedIn = async (browser: Browser) => (await browser.get('/settings')).status === 200;
  const onFirefox = () => new Browser(foyer.url, { 'user-agent': firefox });
  const signIn = async (browser: Browser) => {
    expect((await browser.post('/sign-in', { username: user.email, password })).status).toBe(303);
    return browser;
  };
  const told = async () =>
    (await foyer.mails(user.email))
      .filter(({ template }) => template === 'security-notice')
      .map(({ values }) => [values.change, values.detail, values.operator]);

  it('The command lists each session with its device and client apps, by the beginning of its id alone', async () => {
    await signIn(onFirefox());
    const other = await foyer.signedIn(user);
    await app.tokens(other, user);
    const [withApp, alone, ...more] = (await listed()).toSorted((a, b) => b.client_ids.length - a.client_ids.length);
    expect(more).toEqual([]);
    expect(withApp).toMatchObject({ kind: 'session', client_ids: [app.id] });
    expect(alone).toMatchObject({ kind: 'session', device: 'Firefox on Linux', client_ids: [] });
    expect(alone?.id).toMatch(/^[\w-]{12}$/);
    expect(Math.abs((alone?.created_at ?? 0) - foyer.deps.now() / 1000)).toBeLessThan(60);
    expect((await sessions()).out).toMatch(new RegExp(`^${alone?.id} +session +Firefox on Linux `, 'm'));
  });

  it('The option --end ends one session, its client app gets a logout token, and others stay', async () => {
    const ending = await foyer.signedIn(user);
    const tokens = await app.tokens(ending, user);
    const staying = await signIn(onFirefox());
    await app.heard();
    const id = (await listed()).find(({ client_ids: ids }) => ids.length > 0)?.id ?? '';
    expect((await sessions('--end', id, '--json')).json()).toEqual({
      sub: user.id,
      ended: { sessions: 1, remembered: 0 },
    });
    expect([await isSignedIn(ending), await isSignedIn(staying)]).toEqual([false, true]);
    expect(await app.heard()).toEqual([sidOf(tokens)]);
    expect(await told()).toEqual([['session-ended', expect.any(String), true]]);
    // A second time there is no such session, and no second mail.
    expect(await sessions('--end', id)).toMatchObject({ code: 3, out: '' });
    expect(await told()).toHaveLength(1);
  });

  it('The option --end-all ends all sessions and grants, forgets remembered devices, and mails the member once', async () => {
    const member = await memberWithTotp(foyer);
    user = member.user;
    const browser = onFirefox();
    await toChallenge(browser, user);
    expect((await show(browser, await appCode(foyer, member.secret), { rememberDevice: '1' })).status).toBe(303);
    expect((await listed()).map(({ kind }) => kind)).toEqual(['session', 'remembered']);
    const before = (await told()).length;
    expect((await sessions('--end-all', '--json')).json()).toEqual({
      sub: user.id,
      ended: { sessions: 1, grants: 0, remembered: 1 },
    });
    expect(await isSignedIn(browser)).toBe(false);
    expect(await listed()).toEqual([]);
    expect((await told()).slice(before)).toEqual([['all-sessions-ended', undefined, true]]);
    expect((await sessions('--end-all', '--json')).json()).toMatchObject({ ended: { sessions: 0, remembered: 0 } });
    expect(await told()).toHaveLength(before + 1);
    expect((await sessions()).out).toBe('No sessions, and no remembered devices.\n');
  });

  it('The option --end forgets a remembered device and leaves the session', async () => {
    const member = await memberWithTotp(foyer);
    user = member.user;
    const browser = onFirefox();
    await toChallenge(browser, user);
    await show(browser, await appCode(foyer, member.secret), { rememberDevice: '1' });
    const id = (await listed()).find(({ kind }) => kind === 'remembered')?.id ?? '';
    expect((await sessions('--end', id)).out).toMatch(/^The remembered device .* \(Firefox on Linux\) of .* has ended/);
    expect((await listed()).map(({ kind }) => kind)).toEqual(['session']);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it("Attack: the id of another member's session ends nothing", async () => {
    const browser = await foyer.signedIn(user);
    const [session] = await listed();
    const other = await foyer.addUser();
    expect(await cli('user', 'sessions', other.email, '--end', session?.id ?? '')).toMatchObject({ code: 3, out: '' });
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('A short id, both options and an unknown member are refused', async () => {
    expect(await sessions('--end', 'abc')).toMatchObject({ code: 1, err: expect.stringContaining('at least 8') });
    expect(await sessions('--end', 'abcdefgh', '--end-all')).toMatchObject({ code: 2 });
    expect(await cli('user', 'sessions', 'no-one@example.com')).toMatchObject({ code: 3 });
  });

  it('The mail says in the language of the member that the team did it, and names no device and address', async () => {
    user = await foyer.addUser({ locale: 'de' });
    await foyer.signedIn(user);
    await sessions('--end-all');
    const mail = (await foyer.mails(user.email)).findLast(({ template }) => template === 'security-notice');
    expect(mail?.text).toMatch(/^Sie wurden auf allen Geräten abgemeldet\n/);
    expect(mail?.text).toContain('Unser Team hat das veranlasst.');
    expect(mail?.text).not.toMatch(/^(?:Gerät|IP-Adresse)/m);
    expect(mail?.text).not.toContain('Falls Sie das waren');
  });
});
