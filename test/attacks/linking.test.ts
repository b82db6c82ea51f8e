import { listPasskeys } from '../../server/passkeys/index.ts';
import type { User } from '../../server/users/index.ts';
import {
  answeredLink,
  beginLink,
  ledTo,
  link,
  linkPath,
  linksOf,
  memberBy,
  providersPath,
  removePath,
  toldOf,
} from '../account/provider-steps.ts';
import { comeBy, somebody } from '../federation/steps.ts';
import { addPasskey } from '../passkeys/steps.ts';
import { reset } from '../password/steps.ts';
import { Authenticator } from '../support/authenticator.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import type { TestProviders } from '../support/providers.ts';
import { backends } from '../support/stores.ts';

const linked = [303, `${providersPath}#providers:linked`];
/** The end for a browser to which the answer does not belong: it learns nothing of the answer. */
const foreign = [303, '/#federation:foreign/google'];
const foreignHere = [303, `${providersPath}#federation:foreign/google`];

/** `security.md`, rule 15: a planted link gives an attacker the account for good. */
describe.each(backends)('attacks on linking on $name', (backend) => {
  let foyer: TestFoyer;
  let providers: TestProviders;
  startWithProviders(
    backend,
    (started) => ({ ...started.environment(), GUESS_LIMIT_ADDRESS: '100000' }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  const member = async (): Promise<{ user: User; browser: Browser }> => {
    const user = await foyer.addUser();
    return { user, browser: await foyer.signedIn(user) };
  };
  /** Opens the address from a page of the attacker. */
  const follow = (browser: Browser, address: string) => browser.get(address, { from: 'cross-site' });
  const nothingMade = async (...users: User[]) => {
    for (const user of users) {
      expect(await linksOf(foyer, user)).toEqual([]);
      expect(await toldOf(foyer, user.email)).toEqual([]);
    }
  };

  it('A victim’s browser does not complete an attacker’s link, whether or not it has started one of its own', async () => {
    const [attacker, victim] = [await member(), await member()];
    const evil = somebody(providers, 'google');
    const address = await answeredLink(providers, attacker.browser, 'google', evil);
    expect(ledTo(await follow(victim.browser, address))).toEqual(foreign);
    await beginLink(victim.browser, 'google');
    expect(ledTo(await follow(victim.browser, address))).toEqual(foreign);
    await nothingMade(victim.user);
    // The victim's own sign-in still works, and the attacker gets the own account.
    expect(ledTo(await link(providers, victim.browser, 'google', somebody(providers, 'google')))).toEqual(linked);
    expect(ledTo(await follow(attacker.browser, address))).toEqual(linked);
    expect(await linksOf(foyer, attacker.user)).toMatchObject([{ email: evil.email }]);
  });

  it('A planted attempt cookie of the attacker does not let the victim’s browser complete the link', async () => {
    const [attacker, victim] = [await member(), await member()];
    const address = await answeredLink(providers, attacker.browser, 'google', somebody(providers, 'google'));
    const planted = (await attacker.browser.cookies()).foyer_federation ?? '';
    await victim.browser.jar.setCookie(`foyer_federation=${planted}; Path=/`, foyer.url);
    expect(ledTo(await follow(victim.browser, address))).toEqual(foreignHere);
    await nothingMade(attacker.user, victim.user);
  });

  it('A provider’s answer links nothing in another session of the same user', async () => {
    const { user, browser } = await member();
    const address = await answeredLink(providers, browser, 'google', somebody(providers, 'google'));
    await browser.post('/logout');
    await browser.post('/sign-in', { username: user.email, password: 'correct horse 9' });
    expect((await browser.get('/settings')).status).toBe(200);
    expect(ledTo(await follow(browser, address))).toEqual(foreignHere);
    await nothingMade(user);
  });

  it('A provider’s answer links nothing after the sign-out or for the next user of that browser', async () => {
    const [{ user, browser }, other] = [await member(), await foyer.addUser()];
    const addresses = [];
    for (const _ of [1, 2])
      addresses.push(await answeredLink(providers, browser, 'google', somebody(providers, 'google')));
    await browser.post('/logout');
    expect(ledTo(await follow(browser, addresses[0] ?? ''))).toEqual(foreignHere);
    await browser.post('/sign-in', { username: other.email, password: 'correct horse 9' });
    expect(ledTo(await follow(browser, addresses[1] ?? ''))).toEqual(foreignHere);
    await nothingMade(user, other);
  });

  it('A provider’s answer links nothing after the user’s password was reset or the user was disabled', async () => {
    const [{ user, browser }, disabled] = [await member(), await member()];
    const address = await answeredLink(providers, browser, 'google', somebody(providers, 'google'));
    await reset(foyer, foyer.browser(), user.email);
    expect(ledTo(await follow(browser, address))).toEqual(foreignHere);
    const late = await answeredLink(providers, disabled.browser, 'google', somebody(providers, 'google'));
    const { db } = foyer.deps.database;
    await db.updateTable('users').set({ disabledAt: 1 }).where('id', '=', disabled.user.id).execute();
    expect(ledTo(await follow(disabled.browser, late))).toEqual(foreignHere);
    await nothingMade(user, disabled.user);
  });

  it('A provider’s answer that is replayed in the same browser links nothing', async () => {
    const { user, browser } = await member();
    const address = await answeredLink(providers, browser, 'google', somebody(providers, 'google'));
    expect(ledTo(await follow(browser, address))).toEqual(linked);
    await browser.post(removePath((await linksOf(foyer, user))[0]?.id ?? ''));
    expect(ledTo(await follow(browser, address))).toEqual([303, `${providersPath}#federation:over/google`]);
    expect(await linksOf(foyer, user)).toEqual([]);
  });

  it('An identity that is linked to another user stays linked, and the answer does not reveal to whom', async () => {
    const [owner, thief] = [await member(), await member()];
    const who = somebody(providers, 'google');
    await link(providers, owner.browser, 'google', who);
    const answer = await link(providers, thief.browser, 'google', who);
    expect(ledTo(answer)).toEqual([303, `${providersPath}#federation:linked-elsewhere/google`]);
    const html = await (await thief.browser.get(answer.headers.get('location') ?? '')).text();
    expect(html).toContain('account belongs to another member');
    for (const secret of [owner.user.email, owner.user.familyName, who.email]) expect(html).not.toContain(secret);
    await nothingMade(thief.user);
    expect(await linksOf(foyer, owner.user)).toHaveLength(1);
  });

  it('The same subject and address at another issuer is another person', async () => {
    const [one, two] = [await member(), await member()];
    const who = somebody(providers, 'google', { subject: '107391845562083715530' });
    await link(providers, one.browser, 'google', who);
    expect(ledTo(await link(providers, two.browser, 'facebook', who))).toEqual(linked);
    expect(await linksOf(foyer, one.user)).toMatchObject([{ kind: 'google' }]);
    expect(await linksOf(foyer, two.user)).toMatchObject([{ kind: 'facebook', subject: who.subject }]);
  });

  it('Of two users or two tabs that link one identity at once, one gets it', async () => {
    const [one, two] = [await member(), await member()];
    const who = somebody(providers, 'google');
    const ways = [];
    for (const { browser } of [one, one, two, two])
      ways.push({ browser, address: await answeredLink(providers, browser, 'google', who) });
    const answers = await Promise.all(ways.map(({ browser, address }) => follow(browser, address)));
    const links = [await linksOf(foyer, one.user), await linksOf(foyer, two.user)];
    expect(links.flat()).toHaveLength(1);
    const winner = links[0]?.length === 1 ? one : two;
    const loser = winner === one ? two : one;
    const elsewhere = [303, `${providersPath}#federation:linked-elsewhere/google`];
    expect(answers.map(ledTo)).toEqual(
      winner === one ? [linked, linked, elsewhere, elsewhere] : [elsewhere, elsewhere, linked, linked],
    );
    expect(await toldOf(foyer, winner.user.email)).toHaveLength(1);
    expect(await toldOf(foyer, loser.user.email)).toEqual([]);
  });

  it('No link is started by a GET, another site, a visitor or a user without a recent sign-in', async () => {
    const { user, browser } = await member();
    const seen = providers.exchanges.length;
    const attempts = async () => (await browser.cookies()).foyer_federation;
    expect((await browser.get(linkPath('google'), { from: 'cross-site' })).status).toBe(200);
    expect((await browser.get(linkPath('google'))).headers.get('refresh')).toBeNull();
    const sites = [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'http://shop.localhost', 'sec-fetch-site': 'same-site' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of sites) expect((await browser.post(linkPath('google'), {}, headers)).status).toBe(403);
    expect(ledTo(await foyer.browser().post(linkPath('google')))[1]).toMatch(/^\/\?redirect=/);
    foyer.passTime(11 * 60_000);
    const again = `/re-authenticate?${new URLSearchParams({ redirect: linkPath('google') })}`;
    for (const answer of [await browser.post(linkPath('google')), await browser.get(linkPath('google'))])
      expect(ledTo(answer)).toEqual([303, again]);
    expect(await attempts()).toBeUndefined();
    expect(providers.exchanges).toHaveLength(seen);
    await nothingMade(user);
  });

  it('No link is removed by another user, without a recent sign-in, by a GET or from another site', async () => {
    const [owner, thief] = [await member(), await member()];
    await link(providers, owner.browser, 'google', somebody(providers, 'google'));
    const path = removePath((await linksOf(foyer, owner.user))[0]?.id ?? '');
    for (const answer of [await thief.browser.post(path), await thief.browser.get(path)])
      expect(answer.status).toBe(404);
    const elsewhere = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await owner.browser.post(path, {}, elsewhere)).status).toBe(403);
    expect((await owner.browser.get(path)).status).toBe(200);
    foyer.passTime(11 * 60_000);
    expect(ledTo(await owner.browser.post(path))[1]).toMatch(/^\/re-authenticate\?/);
    expect(await linksOf(foyer, owner.user)).toHaveLength(1);
  });

  it('An answer to a link attempt does not sign in, and an answer to a sign-in does not link', async () => {
    const { user, browser } = await member();
    const who = somebody(providers, 'google');
    const address = await answeredLink(providers, browser, 'google', who);
    // The browser of the attempt has signed out in the meantime.
    await browser.post('/logout');
    await follow(browser, address);
    expect((await browser.get('/settings')).status).toBe(303);
    const again = await foyer.signedIn(user);
    await comeBy(providers, again, 'google', who);
    expect(await linksOf(foyer, user)).toEqual([]);
  });

  it('A link attempt makes the provider ask the user, so that a session that is open there is not linked unnoticed', async () => {
    const { browser } = await member();
    const asked = async (kind: 'google' | 'facebook' | 'oidc') =>
      Object.fromEntries(new URL(await beginLink(browser, kind)).searchParams);
    expect(await asked('google')).toMatchObject({ prompt: 'select_account' });
    expect(await asked('facebook')).toMatchObject({ auth_type: 'reauthenticate' });
    expect(await asked('oidc')).toMatchObject({ prompt: 'login', max_age: '0' });
  });

  it('Of sign-in methods that are removed at once, the last one stays', async () => {
    const { user, browser } = await memberBy(foyer, providers, 'google', somebody(providers, 'google'));
    await addPasskey(browser, new Authenticator(foyer.url));
    await link(providers, browser, 'oidc', somebody(providers, 'oidc'));
    const [passkey] = await listPasskeys(foyer.deps.database.db, user.id);
    const keyPath = `/settings/passkeys/remove?${new URLSearchParams({ passkey: passkey?.id ?? '' })}`;
    const paths = [keyPath, ...(await linksOf(foyer, user)).map(({ id }) => removePath(id))];
    const answers = await Promise.all(paths.map((path) => browser.post(path)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 303, 409]);
    const left = [...(await listPasskeys(foyer.deps.database.db, user.id)), ...(await linksOf(foyer, user))];
    expect(left).toHaveLength(1);
  });

  it('Removing a thief’s link signs out the thief who came by it', async () => {
    const { user, browser } = await member();
    const evil = somebody(providers, 'google');
    await link(providers, browser, 'google', evil);
    await link(providers, browser, 'oidc', somebody(providers, 'oidc'));
    const thief = foyer.browser();
    await comeBy(providers, thief, 'google', evil);
    expect((await thief.get('/settings')).status).toBe(200);
    const phone = await foyer.signedIn(user);
    const made = (await linksOf(foyer, user)).find(({ provider }) => provider === 'google');
    expect(ledTo(await browser.post(removePath(made?.id ?? '')))).toEqual([303, `${providersPath}#providers:removed`]);
    expect((await thief.get('/settings')).status).toBe(303);
    for (const own of [browser, phone]) expect((await own.get('/settings')).status).toBe(200);
  });

  it('Attack: a link with a notice shows none', async () => {
    const { browser } = await member();
    for (const notice of ['linked', 'federation-over', 'federation:over/google', '<b>evil</b>']) {
      const query = new URLSearchParams({ notice, provider: 'google' });
      expect(await (await browser.get(`${providersPath}?${query}`)).text()).not.toMatch(/evil|class="notice/);
    }
  });
});
