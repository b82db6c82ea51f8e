import { ask, codeFor, flowOf, newPassword, resetPath, submit } from '../password/steps.ts';
import { backends } from '../support/stores.ts';
import { setUpReset } from './reset-steps.ts';
import { portOf, send } from './wire.ts';

/** `security.md`, rule 13. */
describe.each(backends)('a password reset under attack, on $name', (backend) => {
  const context = setUpReset(backend);
  const { expectUnchanged } = context;

  it('A flow that was planted in a browser or made up resets no password', async () => {
    const [user, mallory] = [await context.foyer.addUser(), context.foyer.browser()];
    await ask(mallory, user.email);
    const planted = await flowOf(mallory);
    const victim = context.foyer.browser();
    await victim.jar.setCookie(`foyer_reset=${planted}; Path=/`, context.foyer.url);
    // The victim requests a reset: it gets a new flow, which Mallory does not know.
    await ask(victim, user.email);
    expect(await flowOf(victim)).not.toBe(planted);
    const code = await codeFor(context.foyer, user.email);
    expect((await submit(mallory, user.email, code)).status).toBe(400);
    for (const made of ['x', 'a'.repeat(43), '../../session', `${planted}x`, '%00', '__proto__']) {
      const browser = context.foyer.browser();
      await browser.jar.setCookie(`foyer_reset=${encodeURIComponent(made)}; Path=/`, context.foyer.url);
      expect((await submit(browser, user.email, code)).status).toBe(400);
    }
    expect((await submit(victim, user.email, code)).status).toBe(303);
  });

  it('A post from another site or a sibling requests no code and sets no password', async () => {
    const [user, browser] = [await context.foyer.addUser(), context.foyer.browser()];
    await ask(browser, user.email);
    const code = await codeFor(context.foyer, user.email);
    const mails = (await context.foyer.mails(user.email)).length;
    for (const headers of [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'http://sibling.localhost', 'sec-fetch-site': 'same-site' },
    ]) {
      expect((await browser.post('/forgot-password', { username: user.email }, headers)).status).toBe(403);
      const fields = { code, password: newPassword, confirm: newPassword };
      expect((await browser.post(resetPath(user.email), fields, headers)).status).toBe(403);
    }
    expect((await context.foyer.mails(user.email)).length).toBe(mails);
    await expectUnchanged(user);
  });

  it('A foreign Host appears in no mail, because links come from PUBLIC_URL', async () => {
    const user = await context.foyer.addUser();
    const body = new URLSearchParams({ username: user.email }).toString();
    const headers = {
      origin: context.foyer.url,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    };
    const port = portOf(context.foyer.url);
    const foreign = await send(port, '/forgot-password', {
      method: 'POST',
      headers: { ...headers, host: 'evil.example' },
      body,
    });
    expect(foreign.status).toBe(421);
    expect(await context.foyer.mails(user.email)).toEqual([]);
    const forwarded = await send(port, '/forgot-password', {
      method: 'POST',
      headers: { ...headers, host: new URL(context.foyer.url).host },
      body,
    });
    expect(forwarded.status).toBe(303);
    const [mail] = await context.foyer.mails(user.email);
    const addresses = [...`${mail?.html}\n${mail?.text}`.matchAll(/https?:\/\/[^\s"'<>)]+/g)].map(
      ([address]) => address,
    );
    expect(addresses.length).toBeGreaterThan(0);
    expect(addresses.filter((address) => new URL(address).origin !== context.foyer.url)).toEqual([]);
  });

  it('A username with line breaks adds no header to an answer or a mail', async () => {
    const user = await context.foyer.addUser();
    for (const injected of [
      '\r\nSet-Cookie: a=b',
      '\r\nBcc: mallory@evil.example',
      '\nLocation: https://evil.example/',
    ]) {
      const browser = context.foyer.browser();
      const answer = await browser.submit('/forgot-password', { username: user.email + injected });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/forgot-password']);
      const page = await browser.get('/forgot-password');
      expect(page.status).toBe(400);
      for (const { headers } of [answer, page]) {
        expect(headers.getSetCookie()).toEqual([expect.stringMatching(/^foyer_form_[\w-]+=/)]);
      }
      const shown = await browser.get(`/reset-password?username=${encodeURIComponent(user.email + injected)}`);
      expect(shown.headers.get('set-cookie') ?? '').not.toContain('a=b');
    }
    expect(await context.foyer.mails(user.email)).toEqual([]);
  });

  it('The address of the page cannot add text to the page', async () => {
    const browser = context.foyer.browser();
    const user = await context.foyer.addUser();
    await ask(browser, user.email);
    const page = await browser.get(`${resetPath(user.email)}&notice=${encodeURIComponent('Call +1 555 to confirm')}`);
    expect(await page.text()).not.toContain('Call +1');
    const home = await browser.get('/?notice=Call+me');
    expect(await home.text()).not.toContain('Call me');
    const shown = await browser.get(`/reset-password?username=${encodeURIComponent('<script>alert(1)</script>')}`);
    expect(await shown.text()).not.toContain('<script>alert');
  });
});
