import { exportUserData, findUser, type User } from '../../server/users/index.ts';
import { codeFor, confirm, member, newAddress, profile } from '../sign-up/steps.ts';
import type { Browser } from '../support/browser.ts';
import { eachSignedInUser, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('username and time zone on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  eachSignedInUser(backend, {}, (setting) => {
    ({ foyer, user, browser } = setting);
  });

  let names = 0;
  const newName = () => {
    names += 1;
    return `vera.${names}`;
  };
  const stored = (id = user.id) => findUser(foyer.deps.database.db, id);
  const save = (fields: Record<string, string>, by = browser) =>
    by.post('/settings/profile', { gender: '0', ...fields });

  it('A username and a time zone are stored, shown, exported and given to apps as claims', async () => {
    const name = newName();
    expect((await save({ preferred_username: ` ${name.toUpperCase()} `, zoneinfo: 'Europe/Berlin' })).status).toBe(303);
    const user = await stored();
    expect(user).toMatchObject({ preferredUsername: name, zoneinfo: 'Europe/Berlin' });
    const card = await (await browser.get('/settings?tab=user-data')).text();
    expect(card).toContain(`<dt>Username</dt><dd>${name}</dd>`);
    expect(card).toContain('<dt>Time zone</dt><dd>Europe/Berlin</dd>');
    const attributes = { preferred_username: name, zoneinfo: 'Europe/Berlin' };
    if (user) expect(await exportUserData(foyer.deps.database.db, user)).toMatchObject({ attributes });
    const answer = await browser.get('/identity/userAttributes', { headers: { accept: 'application/json' } });
    expect(await answer.json()).toMatchObject(attributes);
    const client = await relyingParty(foyer, await foyer.addClient({ idTokenClaims: true }));
    if (user) expect((await tokensFor(client, browser, user)).claims()).toMatchObject(attributes);
  });

  it('Without a username and a time zone there are no such claims', async () => {
    const client = await relyingParty(foyer, await foyer.addClient({ idTokenClaims: true }));
    const claims = (await tokensFor(client, browser, user)).claims();
    expect(claims).not.toHaveProperty('preferred_username');
    expect(claims).not.toHaveProperty('zoneinfo');
  });

  it.each([
    'ab',
    'x'.repeat(31),
    '1vera',
    '.vera',
    'vera.',
    've..ra',
    've ra',
    'vera@example',
    'véra',
    'admin',
    'Support',
  ])('The username %s is refused at its field, and nothing is stored', async (name) => {
    const answer = await save({ preferred_username: name });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/id="field-preferred_username-error"/);
    expect((await stored())?.preferredUsername).toBeNull();
  });

  it('A username of another member is refused in any case, by the page and by JSON, and is free once it is given up', async () => {
    const name = newName();
    await save({ preferred_username: name });
    const other = await foyer.addUser();
    const second = await foyer.signedIn(other);
    const refused = await save({ preferred_username: name.toUpperCase() }, second);
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('This username isn’t available.'),
    ]);
    const call = await second.postJson('/identity/updateUserAttributes', { preferred_username: name });
    expect(call.status).toBe(409);
    expect((await stored(other.id))?.preferredUsername).toBeNull();
    await save({ preferred_username: '' });
    expect((await save({ preferred_username: name }, second)).status).toBe(303);
  });

  it('Of two members who choose one username at once, one gets it', async () => {
    const name = newName();
    const other = await foyer.addUser();
    const second = await foyer.signedIn(other);
    const answers = await Promise.all([browser, second].map((by) => save({ preferred_username: name }, by)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 400]);
  });

  it.each([
    ['Europe/Berlin', 'Europe/Berlin'],
    ['UTC', 'UTC'],
    ['Mars/Phobos', null],
    ['<script>', null],
    ['', null],
  ])('A sign-up in a browser with the time zone "%s" stores %s', async (zoneinfo, expected) => {
    const email = newAddress();
    const visitor = foyer.browser();
    expect((await visitor.post('/signup', profile(email, { zoneinfo }))).status).toBe(303);
    await confirm(visitor, await codeFor(foyer, email));
    expect((await member(foyer, email))?.zoneinfo).toBe(expected);
  });

  it('A time zone that does not exist is refused in the settings', async () => {
    expect((await save({ zoneinfo: 'Mars/Phobos' })).status).toBe(400);
    expect((await stored())?.zoneinfo).toBeNull();
  });
});
