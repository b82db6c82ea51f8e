import { listIdentities } from '../../server/federation/index.ts';
import { listPasskeys } from '../../server/passkeys/index.ts';
import { newPassword, read, reset } from '../password/steps.ts';
import { Authenticator } from '../support/authenticator.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail, toProviderId, toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { addPasskey, memberWithPasskey, signInWith } from './steps.ts';

const path = '/reset-password/ways-in';
const dayMs = 24 * 60 * 60_000;

/** `security.md`, rule 13: an intruder may have added a passkey, which a new password does not remove. */
describe.each(backends)('a reset password and the passkeys that were added lately, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const passkeysOf = (userId: string) => listPasskeys(foyer.deps.database.db, toUserId(userId));
  const told = async (email: string) =>
    (await foyer.mails(email)).filter(({ values }) => values.change === 'passkey-removed');

  it('A reset leads to recent passkeys, and their removal ends the sessions that they started', async () => {
    const { user, authenticator } = await memberWithPasskey(foyer);
    foyer.passTime(31 * dayMs);
    const stranger = await foyer.signedIn(user);
    const planted = new Authenticator(foyer.url);
    await addPasskey(stranger, planted, { name: 'Backdoor' });

    const browser = foyer.browser();
    expect(locationOf(await reset(foyer, browser, user.email))).toBe(foyer.url + path);
    const text = await read(await browser.get(path));
    expect(text).toContain('Are these passkeys yours?');
    expect(text).toContain('Backdoor');
    expect(text).not.toContain('Laptop');
    // Looking changes nothing; and the stranger is quicker than the member.
    expect(await passkeysOf(user.id)).toHaveLength(2);
    expect((await signInWith(stranger, planted)).status).toBe(303);
    expect((await stranger.get('/settings')).status).toBe(200);

    const removed = await browser.post(path);
    expect([removed.status, locationOf(removed)]).toEqual([303, `${foyer.url}/#password:reset`]);
    expect((await passkeysOf(user.id)).map(({ id }) => id)).toEqual([authenticator.id]);
    expect((await stranger.get('/settings')).status).toBe(303);
    expect((await signInWith(stranger, planted)).status).toBe(400);
    expect((await told(user.email)).map(({ values }) => values.detail)).toEqual(['Backdoor']);
    const home = await browser.post('/sign-in', { username: user.email, password: newPassword });
    expect(home.status).toBe(303);
  });

  it('A reset also leads to recently linked accounts, and each removed kind causes a mail', async () => {
    const { user, browser: stranger } = await memberWithPasskey(foyer);
    const at = foyer.deps.now();
    const link = (name: string, linkedAt: number) =>
      foyer.deps.database.db
        .insertInto('federatedIdentities')
        .values({
          id: `${name}-${user.id}`,
          userId: user.id,
          kind: 'oidc',
          issuer: 'https://acme.example',
          subject: `${name}-${user.id}`,
          provider: toProviderId('acme'),
          email: toNormalisedEmail(`${name}@acme.example`),
          linkedAt,
          lastUsedAt: null,
        })
        .execute();
    await link('old', at - 31 * dayMs);
    await link('evil', at);
    const browser = foyer.browser();
    await reset(foyer, browser, user.email);
    const text = await read(await browser.get(path));
    expect(text).toMatch(/Are these ways to sign in yours\?.* Laptop .* acme\.example \(evil@acme.example\)/);
    expect(text).not.toContain('old@acme.example');
    expect((await browser.post(path)).status).toBe(303);
    const left = await listIdentities(foyer.deps.database.db, user.id);
    expect(left.map(({ email }) => email)).toEqual(['old@acme.example']);
    expect((await stranger.get('/settings')).status).toBe(303);
    const changes = (await foyer.mails(user.email)).map(({ values }) => [values.change, values.detail]);
    expect(changes).toEqual(
      expect.arrayContaining([
        ['passkey-removed', 'Laptop'],
        ['provider-removed', 'acme.example (evil@acme.example)'],
      ]),
    );
  });

  it('The removal works once, in the browser of the reset, from its own page and for ten minutes', async () => {
    const { user, authenticator } = await memberWithPasskey(foyer);
    const browser = foyer.browser();
    await reset(foyer, browser, user.email);
    const elsewhere = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await browser.post(path, {}, elsewhere)).status).toBe(403);
    for (const other of [foyer.browser(), await foyer.signedIn(await foyer.addUser())]) {
      expect(locationOf(await other.get(path))).toBe(`${foyer.url}/#password:reset`);
      expect((await other.post(path)).status).toBe(303);
    }
    expect((await passkeysOf(user.id)).map(({ id }) => id)).toEqual([authenticator.id]);
    const cookie = await browser.jar.getCookieString(foyer.url);
    expect((await browser.post(path)).status).toBe(303);
    expect(await passkeysOf(user.id)).toEqual([]);
    // A second use of the cookie removes nothing.
    await browser.post('/sign-in', { username: user.email, password: newPassword });
    await addPasskey(browser, new Authenticator(foyer.url), { name: 'New' });
    expect((await foyer.browser().post(path, {}, { cookie })).status).toBe(303);
    expect((await passkeysOf(user.id)).map(({ name }) => name)).toEqual(['New']);
    expect(await told(user.email)).toHaveLength(1);
  });

  it('A reset without recent passkeys skips the page', async () => {
    const user = await foyer.addUser();
    expect(locationOf(await reset(foyer, foyer.browser(), user.email))).toBe(`${foyer.url}/#password:reset`);
    const { user: old } = await memberWithPasskey(foyer);
    foyer.passTime(31 * dayMs);
    expect(locationOf(await reset(foyer, foyer.browser(), old.email))).toBe(`${foyer.url}/#password:reset`);
    expect(await passkeysOf(old.id)).toHaveLength(1);
  });
});
