import { listPasskeys } from '../../server/passkeys/index.ts';
import { Authenticator, type CreationOptions } from '../support/authenticator.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { addPasskey, addPath, askedAt, errorOf, memberWithPasskey, signInWith } from './steps.ts';

const path = '/settings/passkeys';
const actPath = (act: 'rename' | 'remove', id: string) => `${path}/${act}?${new URLSearchParams({ passkey: id })}`;

describe.each(backends)('the settings of passkeys on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const passkeysOf = (userId: string) => listPasskeys(foyer.deps.database.db, toUserId(userId));
  const shown = async (browser: { get(path: string): Promise<Response> }, at = path) => (await browser.get(at)).text();

  it('The options request a discoverable passkey of this host with user verification and no attestation', async () => {
    const user = await foyer.addUser({ givenName: 'Vera', familyName: 'Fyfe' });
    const options = await askedAt<CreationOptions>(await foyer.signedIn(user), addPath);
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'Foyer' },
      user: { id: Buffer.from(user.id).toString('base64url'), name: user.email, displayName: 'Vera Fyfe' },
      attestation: 'none',
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    expect(Buffer.from(options.challenge, 'base64url').length).toBeGreaterThanOrEqual(16);
  });

  it('A passkey is added and listed, and the user gets a mail', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    expect(await shown(browser)).toContain('No passkey yet');
    const authenticator = new Authenticator(foyer.url);
    const answer = await addPasskey(browser, authenticator, { name: ' Work <laptop> ' });
    expect([answer.status, locationOf(answer)]).toEqual([303, `${foyer.url}${path}#passkeys:added`]);
    expect(await passkeysOf(user.id)).toEqual([
      {
        id: authenticator.id,
        userId: user.id,
        name: 'Work <laptop>',
        publicKey: expect.stringMatching(/^[\w-]{90,}$/),
        counter: 0,
        transports: ['internal', 'hybrid'],
        aaguid: '00000000-0000-0000-0000-000000000000',
        backedUp: true,
        createdAt: expect.any(Number),
        lastUsedAt: null,
      },
    ]);
    const html = await shown(browser, `${path}#passkeys:added`);
    expect(html).toContain('Work &lt;laptop&gt;');
    expect(html).toMatch(/<li class="passkey-row"><svg class="icon"/);
    expect(html).toContain('The passkey has been added.');
    expect(html).toContain('Synced');
    const [mail] = (await foyer.mails(user.email)).filter(({ template }) => template === 'security-notice');
    expect(mail?.values).toMatchObject({ change: 'passkey-added', detail: 'Work <laptop>' });
    expect(await shown(browser, '/settings')).toContain('1 passkey');
  });

  it('Passkeys are listed by their last use, and an unused one by the time that it was added', async () => {
    const { browser, authenticator } = await memberWithPasskey(foyer);
    foyer.passTime(60_000);
    await addPasskey(browser, new Authenticator(foyer.url), { name: 'Phone' });
    const listed = async () =>
      [...(await shown(browser)).matchAll(/class="passkey-name">([^<]*)/g)].map(([, name]) => name);
    expect(await listed()).toEqual(['Phone', 'Laptop']);
    foyer.passTime(60_000);
    await signInWith(foyer.browser(), authenticator);
    expect(await listed()).toEqual(['Laptop', 'Phone']);
  });

  it('The browser is asked to exclude the user’s passkeys, and a second registration is refused', async () => {
    const { user, browser, authenticator } = await memberWithPasskey(foyer);
    const options = await askedAt<CreationOptions>(browser, addPath);
    expect(options.excludeCredentials).toMatchObject([{ id: authenticator.id }]);
    const again = await browser.post(addPath, { name: 'Again', credential: authenticator.create(options) });
    expect(await errorOf(again)).toEqual({ status: 409, error: 'This passkey is in use already.' });
    expect((await passkeysOf(user.id)).map(({ name }) => name)).toEqual(['Laptop']);
  });

  it('A passkey is renamed and removed, and only the removal causes a mail', async () => {
    const { user, browser, authenticator } = await memberWithPasskey(foyer);
    const { id } = authenticator;
    expect(await shown(browser, actPath('rename', id))).toContain('value="Laptop"');
    for (const [name, error] of [
      ['', 'Please give it a name'],
      ['   ', 'Please give it a name'],
      ['x'.repeat(61), 'Please use at most 60 characters.'],
      ['bell\u0007', 'Please use at most 60 characters.'],
    ] as const) {
      const answer = await browser.post(actPath('rename', id), { name });
      expect([name, answer.status, (await answer.text()).includes(error)]).toEqual([name, 400, true]);
    }
    const renamed = await browser.post(actPath('rename', id), { name: 'Phone' });
    expect(locationOf(renamed)).toBe(`${foyer.url}${path}#passkeys:renamed`);
    expect((await passkeysOf(user.id)).map(({ name }) => name)).toEqual(['Phone']);

    expect(await shown(browser, actPath('remove', id))).toContain('“Phone” won’t sign you in here any more.');
    expect(await passkeysOf(user.id)).toHaveLength(1);
    const removed = await browser.post(actPath('remove', id));
    expect(locationOf(removed)).toBe(`${foyer.url}${path}#passkeys:removed`);
    expect(await passkeysOf(user.id)).toEqual([]);
    expect((await browser.post(actPath('remove', id))).status).toBe(404);
    const told = (await foyer.mails(user.email)).filter(({ template }) => template === 'security-notice');
    expect(told.map(({ values }) => [values.change, values.detail])).toEqual([
      ['passkey-added', 'Laptop'],
      ['passkey-removed', 'Phone'],
    ]);
  });

  it('A faulty answer gets an error and a new challenge', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const nothing = await browser.post(addPath, { name: 'Laptop', credential: '' });
    expect(await errorOf(nothing.clone() as Response)).toEqual({
      status: 400,
      error: 'We didn’t get a passkey from your device. Please try again.',
    });
    const html = await nothing.text();
    expect(html).toContain('value="Laptop"');
    expect(html).toContain('data-new-passkey=');
    const unnamed = await addPasskey(browser, new Authenticator(foyer.url), { name: '' });
    expect(unnamed.status).toBe(400);
    expect(await passkeysOf(user.id)).toEqual([]);
  });

  it('A user has at most 20 passkeys', async () => {
    const { user, browser } = await memberWithPasskey(foyer);
    const { db } = foyer.deps.database;
    const [first] = await db.selectFrom('passkeys').selectAll().where('userId', '=', user.id).execute();
    if (!first) throw new Error('there is no passkey');
    await db
      .insertInto('passkeys')
      .values(Array.from({ length: 18 }, (_, n) => ({ ...first, id: `${user.id}-${n}` })))
      .execute();
    const options = await askedAt<CreationOptions>(browser, addPath);
    await addPasskey(browser, new Authenticator(foyer.url), { name: 'Key 20' });
    const late = new Authenticator(foyer.url).create(options);
    // The list says why the page to add a passkey is missing.
    const refused = await browser.post(addPath, { name: 'Key 21', credential: late });
    expect([refused.url, await refused.text()]).toEqual([
      `${foyer.url}${path}`,
      expect.stringContaining('You have 20 passkeys'),
    ]);
    expect(await passkeysOf(user.id)).toHaveLength(20);
    expect(locationOf(await browser.get(addPath))).toBe(`${foyer.url}${path}`);
    const html = await shown(browser);
    expect(html).toContain('You have 20 passkeys');
    expect(html).not.toContain(addPath);
  });

  it('After ten minutes every change asks for reauthentication and then returns to its page', async () => {
    const { user, browser, authenticator } = await memberWithPasskey(foyer);
    foyer.passTime(11 * 60_000);
    const paths = [addPath, actPath('rename', authenticator.id), actPath('remove', authenticator.id)];
    for (const at of paths) {
      for (const answer of [await browser.get(at), await browser.post(at, { name: 'Late', credential: '{}' })]) {
        const to = new URL(locationOf(answer));
        expect([answer.status, to.pathname, to.searchParams.get('redirect')]).toEqual([303, '/re-authenticate', at]);
      }
    }
    expect((await browser.get(path)).status).toBe(200);
    expect((await passkeysOf(user.id)).map(({ name }) => name)).toEqual(['Laptop']);
  });

  it('The settings of passkeys need a session', async () => {
    for (const at of [path, addPath, actPath('remove', 'x')]) {
      const answer = await foyer.browser().get(at);
      expect([answer.status, new URL(locationOf(answer)).pathname]).toEqual([303, '/']);
    }
  });
});
