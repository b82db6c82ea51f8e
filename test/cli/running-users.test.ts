import * as oidc from 'openid-client';
import { locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { prepareRunningFoyer } from './running-foyer.ts';

describe.each(backends)('users of a running Foyer on $name', (backend) => {
  const { running, foyer, register, tokensOf, userinfoStatus, isSignedIn } = prepareRunningFoyer(backend);

  it('A user who was added signs in at once, by address and by number', async () => {
    const added = await foyer(
      'user',
      'add',
      '--email',
      'grace@example.com',
      '--password',
      password,
      '--phone',
      '+41791234567',
      '--verified',
      '--accept-terms',
    );
    expect(added.code).toBe(0);
    for (const username of ['Grace@example.com', '+41 79 123 45 67']) {
      const browser = running().browser();
      expect((await browser.post('/sign-in', { username, password })).status).toBe(303);
      expect(await isSignedIn(browser)).toBe(true);
    }
    expect((await foyer('user', 'show', 'grace@example.com', '--json')).json()).toMatchObject({
      sessions: 2,
      grants: 0,
    });
  });

  it('Attack: a disabled user continues in open pages and with the tokens of client apps', async () => {
    const { client } = await register('disabling');
    const user = await running().addUser();
    const bystander = await running().addUser();
    const [phone, desk, other] = await Promise.all([
      running().signedIn(user),
      running().signedIn(user),
      running().signedIn(bystander),
    ]);
    const tokens = await tokensOf(client, user, desk);
    const others = await tokensOf(client, bystander, other);
    expect(await isSignedIn(phone)).toBe(true);

    const run = await foyer('user', 'disable', user.email);
    expect(run.out).toBe(
      `Member ${user.email} is disabled. Ended: 2 sessions, 1 grant to client apps with all tokens.\n`,
    );
    for (const browser of [phone, desk]) expect(await isSignedIn(browser)).toBe(false);
    expect(await userinfoStatus(tokens.access_token)).toBe(401);
    await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    const silent = await desk.get((await client.begin({ prompt: 'none' })).url, { from: 'cross-site' });
    expect(new URL(locationOf(silent)).searchParams.get('error')).toBe('login_required');

    const refused = await running().browser().post('/sign-in', { username: user.email, password });
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('User is disabled.');
    // Only a visitor who knows the password learns it.
    const guess = await running().browser().post('/sign-in', { username: user.email, password: 'wrong horse 9' });
    expect(await guess.text()).not.toContain('User is disabled.');

    expect(await isSignedIn(other)).toBe(true);
    expect(await userinfoStatus(others.access_token)).toBe(200);

    expect((await foyer('user', 'enable', user.email)).out).toContain('is enabled');
    for (const browser of [phone, desk]) expect(await isSignedIn(browser)).toBe(false);
    expect(await userinfoStatus(tokens.access_token)).toBe(401);
    expect(await isSignedIn(await running().signedIn(user))).toBe(true);
  });

  it('Attack: sign-ins run while the user is being disabled', async () => {
    const user = await running().addUser();
    const browsers = Array.from({ length: 8 }, () => running().browser());
    const answers = Promise.all(
      browsers.map((browser) => browser.post('/sign-in', { username: user.email, password })),
    );
    await foyer('user', 'disable', user.email);
    await answers;
    for (const browser of browsers) expect(await isSignedIn(browser)).toBe(false);
    await foyer('user', 'enable', user.email);
    for (const browser of browsers) expect(await isSignedIn(browser)).toBe(false);
  });

  it('Setting a password signs the user out everywhere, allows the new password and sends a mail', async () => {
    const user = await running().addUser();
    const browser = await running().signedIn(user);
    const run = await foyer('user', 'set-password', user.email, '--password', 'a walk in the rain 4', '--json');
    expect(run.json()).toMatchObject({ sub: user.id, ended: { sessions: 1, grants: 0 } });
    expect(await isSignedIn(browser)).toBe(false);
    const signIn = (given: string) => running().browser().post('/sign-in', { username: user.email, password: given });
    expect([(await signIn(password)).status, (await signIn('a walk in the rain 4')).status]).toEqual([400, 303]);
    expect((await running().mails(user.email)).map(({ template }) => template)).toContain('password-changed');
  });
});
