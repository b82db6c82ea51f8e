import { languages } from '../../server/http/index.ts';
import { listRememberedDevices } from '../../server/mfa/index.ts';
import type { User } from '../../server/users/index.ts';
import { appCode, memberWithTotp, show, toChallenge } from '../sign-in/factor-steps.ts';
import { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { rawKeys } from '../views/raw-keys.ts';
import { leadsTo } from './mfa-steps.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const agents = {
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  safari:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
};

describe.each(backends)('the devices in the settings on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  beforeEach(async () => {
    user = await foyer.addUser();
  });
  afterAll(() => foyer?.close());

  const device = (agent: keyof typeof agents) => new Browser(foyer.url, { 'user-agent': agents[agent] });
  const signedIn = async (agent: keyof typeof agents, who = user) => {
    const browser = device(agent);
    expect((await browser.post('/sign-in', { username: who.email, password })).status).toBe(303);
    return browser;
  };
  const isSignedIn = async (browser: Browser) => (await browser.get('/settings')).status === 200;
  const pageOf = async (browser: Browser) => (await browser.get('/settings?tab=device-data')).text();
  /** Each device of a card: name and status, facts, button. */
  function rowsOf(html: string, id: string): string[][] {
    const card = new RegExp(`<section class="card flush" id="${id}">.*?</section>`, 's').exec(html)?.[0] ?? '';
    const text = (part = '') =>
      part
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim();
    return [...card.matchAll(/<li class="device-row">(.*?)<\/li>/gs)].map(([, row = '']) => [
      text(/<p class="device-name">(.*?)<\/p>/s.exec(row)?.[1]),
      ...[...row.matchAll(/<dd>(.*?)<\/dd>/gs)].map(([, fact]) => text(fact)),
      text(row.split('</dl>')[1]),
    ]);
  }
  const day = (agoMs: number) =>
    new Date(foyer.deps.now() - agoMs).toLocaleDateString('en', { dateStyle: 'medium', timeZone: 'UTC' });
  const hrefs = (html: string, act: string) =>
    [...html.matchAll(new RegExp(`href="(/settings/devices/${act}\\?[^"]*)"`, 'g'))].map(([, href = '']) => href);
  const told = async (who = user) =>
    (await foyer.mails(who.email))
      .filter(({ template }) => template === 'security-notice')
      .map(({ values }) => [values.change, values.detail]);
  const remembering = async (agent: keyof typeof agents, who: User, secret: string) => {
    const browser = device(agent);
    await toChallenge(browser, who);
    expect((await show(browser, await appCode(foyer, secret), { rememberDevice: '1' })).status).toBe(303);
    foyer.passTime(minuteMs);
    return browser;
  };

  it('The devices are listed with status, name, address, last use and sign-in, the current one first', async () => {
    const phone = await signedIn('safari');
    foyer.passTime(3 * hourMs);
    const laptop = await signedIn('firefox');
    foyer.passTime(2 * minuteMs);
    const html = await pageOf(laptop);
    expect(rowsOf(html, 'devices')).toEqual([
      ['Firefox on Linux This device', 'now', '127.0.0.1', day(2 * minuteMs), ''],
      [
        ...['Safari on iOS', '3 hours ago', '127.0.0.1', day(3 * hourMs)],
        expect.stringMatching(/^Sign out Safari on iOS/),
      ],
    ]);
    expect(html).not.toContain('id="remembered-devices"');
    expect(html).toContain('href="/settings/devices/sign-out-others"');
    await phone.post('/logout');
    // The last sign-in has a place of its own only where it is another one than the first.
    await laptop.post('/re-authenticate?redirect=%2Fsettings', { password });
    const alone = await pageOf(laptop);
    expect(rowsOf(alone, 'devices')).toEqual([
      ['Firefox on Linux This device', 'now', '127.0.0.1', 'now', day(2 * minuteMs), ''],
    ]);
    expect(alone).not.toContain('sign-out-others');
  });

  it('Signing out one device asks first, ends that session at its next request and mails the user once', async () => {
    const [laptop, phone] = [await signedIn('firefox'), await signedIn('safari')];
    const [href = ''] = hrefs(await pageOf(laptop), 'sign-out');
    const page = await (await laptop.get(href)).text();
    expect(page).toContain('“Safari on iOS” and the apps opened with it are signed out right away.');
    expect(await isSignedIn(phone)).toBe(true);
    expect(leadsTo(await laptop.post(href))).toBe('303 /settings?tab=device-data#settings:session-ended');
    const said = await (await laptop.get('/settings?tab=device-data')).text();
    expect(said).toContain('The device has been signed out.');
    expect(said).toMatch(/id="panel-device-data">/);
    expect(leadsTo(await phone.get('/settings'))).toBe('303 /?redirect=%2Fsettings');
    expect(leadsTo(await laptop.post(href))).toBe('303 /settings?tab=device-data#settings:session-gone');
    expect(leadsTo(await laptop.get(href))).toBe('303 /settings?tab=device-data#settings:session-gone');
    expect(await isSignedIn(laptop)).toBe(true);
    expect(await told()).toEqual([['session-ended', 'Safari on iOS']]);
  });

  it('Signing out all others ends their sessions and remembered devices and keeps this one as it is', async () => {
    const { user: member, secret } = await memberWithTotp(foyer);
    const phone = await remembering('safari', member, secret);
    const laptop = await remembering('firefox', member, secret);
    expect(leadsTo(await laptop.post('/settings/devices/sign-out-others'))).toBe(
      '303 /settings?tab=device-data#settings:sessions-ended',
    );
    expect([await isSignedIn(phone), await isSignedIn(laptop)]).toEqual([false, true]);
    const left = await listRememberedDevices(foyer.deps.database.db, member, foyer.deps.now());
    expect(left.map(({ userAgent }) => userAgent)).toEqual([agents.firefox]);
    const again = (browser: Browser) => browser.post('/sign-in', { username: member.email, password });
    expect(leadsTo(await again(phone))).toBe('303 /second-factor');
    expect((await again(laptop)).headers.get('location')).not.toContain('second-factor');
    expect(await told(member)).toEqual([['sessions-ended', undefined]]);
    // Without another session there is no mail.
    await laptop.post('/settings/devices/sign-out-others');
    expect(await told(member)).toHaveLength(1);
  });

  it('A remembered device is listed with its last day, and once forgotten its next sign-in needs the second factor', async () => {
    const { user: member, secret } = await memberWithTotp(foyer);
    const phone = await remembering('safari', member, secret);
    const laptop = await remembering('firefox', member, secret);
    const html = await pageOf(laptop);
    const rows = rowsOf(html, 'remembered-devices');
    expect(rows.map(([name]) => name)).toEqual(['Firefox on Linux This device', 'Safari on iOS']);
    for (const [, , , since, until = ''] of rows) {
      expect([day(minuteMs), day(0)]).toContain(since);
      // A day alone.
      expect(Math.floor((Date.parse(until) - foyer.deps.now()) / (24 * hourMs))).toBe(29);
    }
    const [, href = ''] = hrefs(html, 'forget');
    expect(await (await laptop.get(href)).text()).toContain('The next sign-in on “Safari on iOS” asks');
    expect(leadsTo(await laptop.post(href))).toBe('303 /settings?tab=device-data#settings:device-forgotten');
    expect(leadsTo(await laptop.post(href))).toBe('303 /settings?tab=device-data#settings:device-forgotten');
    expect(await isSignedIn(phone)).toBe(true);
    expect(rowsOf(await pageOf(laptop), 'remembered-devices').map(([name]) => name)).toEqual([
      'Firefox on Linux This device',
    ]);
    const again = await phone.post('/sign-in', { username: member.email, password });
    expect(leadsTo(again)).toBe('303 /second-factor');
    expect(await told(member)).toEqual([['device-forgotten', 'Safari on iOS']]);
  });

  it('The current device cannot be signed out in the list and leads to the sign-out page', async () => {
    const laptop = await signedIn('firefox');
    const [own] = await foyer.app.sessions.list(user.id);
    const address = `/settings/devices/sign-out?session=${own?.idHash}`;
    expect(leadsTo(await laptop.get(address))).toBe('303 /logout');
    expect(leadsTo(await laptop.post(address))).toBe('303 /logout');
    expect(await isSignedIn(laptop)).toBe(true);
    expect(await told()).toEqual([]);
  });

  it.each(languages)('The device pages are complete in the language %s', async (lang) => {
    const { user: member, secret } = await memberWithTotp(foyer, { locale: lang });
    const laptop = await remembering('firefox', member, secret);
    await remembering('safari', member, secret);
    const html = await pageOf(laptop);
    const addresses = [...hrefs(html, 'sign-out'), ...hrefs(html, 'forget'), '/settings/devices/sign-out-others'];
    expect(addresses).toHaveLength(4);
    for (const page of [html, ...(await Promise.all(addresses.map(async (at) => (await laptop.get(at)).text())))]) {
      expect(page).toContain(`<html lang="${lang}"`);
      expect(rawKeys(page)).toEqual([]);
    }
  });
});
