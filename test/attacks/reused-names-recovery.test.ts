import { parseSamlMessage, readRedirect } from '../../sandbox/providers/index.ts';
import type { User } from '../../server/users/index.ts';
import { codeFor, newPassword } from '../password/steps.ts';
import { appCode, giveTotp, show } from '../sign-in/factor-steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { answerXml, arrive, pathOf } from '../support/saml.ts';
import { backends } from '../support/stores.ts';
import { formats, setUpReusedNames } from './reused-names-steps.ts';

const reusedPath = '/federation/link/account';
const offerPath = '/federation/link';

/** A provider gives the user name or address of a former employee to another person. */
describe.each(backends)('a SAML subject that was given to another person, on $name', (backend) => {
  const context = setUpReusedNames(backend);
  const { db, member, linksOf, signedInAs, come, memberBy } = context;
  async function beginSamlFrom(page: Response, browser: Browser) {
    const text = await page.text();
    const [, address = ''] = /url=([^"]+)"/i.exec(text) ?? [];
    const url = new URL(address.replaceAll('&amp;', '&'));
    const message = parseSamlMessage(readRedirect(url.search)?.xml ?? '');
    const request = { id: message?.id ?? '', acsUrl: message?.acsUrl ?? '', app: message?.issuer ?? '' };
    return { browser, url, relayState: url.searchParams.get('RelayState') ?? '', request };
  }

  describe('a user whose address and name have both changed', () => {
    const mine = (browser: Browser) => browser.post(reusedPath, { act: 'mine' });
    const signIn = (browser: Browser, user: User) =>
      browser.post(`/sign-in?redirect=${offerPath}`, { username: user.email, password });
    async function withPassword() {
      const made = await memberBy();
      const { passwordHash } = await context.foyer.addUser();
      await db().updateTable('users').set({ passwordHash }).where('id', '=', made.user.id).execute();
      return { ...made, user: (await member(made.user.email)) as User };
    }

    it('A user with a changed address and name confirms the link by the password and signs in by the provider again', async () => {
      const { user, nameId, other } = await withPassword();
      const { browser } = await come(nameId, other);
      const to = pathOf(await mine(browser));
      expect(to).toBe(`/?${new URLSearchParams({ redirect: offerPath })}#federation:prove/acme-saml`);
      expect(await (await browser.get(to)).text()).toContain('show that the account is yours');
      expect(pathOf(await signIn(browser, user))).toBe(offerPath);
      expect(await (await browser.get(offerPath)).text()).toContain('Keep signing in with Acme Corporate?');
      expect((await browser.post(offerPath, { act: 'link' })).status).toBe(303);
      expect(await linksOf(user)).toMatchObject([{ subject: nameId, email: other.mail, name: 'Adam Jones' }]);
      expect((await context.foyer.mails(user.email)).at(-1)).toMatchObject({
        template: 'security-notice',
        values: { change: 'provider-linked' },
      });
      expect(await signedInAs((await come(nameId, other)).browser)).toContain(user.email);
    });

    it('“Not now” leaves the link as it was', async () => {
      const { user, nameId, facts, other } = await withPassword();
      const { browser } = await come(nameId, other);
      await mine(browser);
      await signIn(browser, user);
      await browser.post(offerPath, { act: 'not-now' });
      expect(await linksOf(user)).toMatchObject([{ email: facts.mail, name: 'Ada Lovelace' }]);
      expect((await come(nameId, other)).to).toBe(reusedPath);
    });

    it('The password alone does not confirm the link of a user with a second factor', async () => {
      const { user, nameId, facts, other } = await withPassword();
      const secret = await giveTotp(context.foyer, user);
      const { browser } = await come(nameId, other);
      await mine(browser);
      const factor = pathOf(await signIn(browser, user));
      expect(factor).toMatch(/^\/second-factor/);
      expect((await browser.post(offerPath, { act: 'link' })).status).toBe(303);
      expect(await linksOf(user)).toMatchObject([{ email: facts.mail }]);
      await show(browser, await appCode(context.foyer, secret), {}, new URL(factor, context.foyer.url).search);
      await browser.post(offerPath, { act: 'link' });
      expect(await linksOf(user)).toMatchObject([{ email: other.mail }]);
    });

    it('A user without a password sets one by a code to the account’s address and continues', async () => {
      const { user, nameId, other } = await memberBy();
      expect(user.passwordHash).toBeNull();
      const { browser } = await come(nameId, other);
      const at = pathOf(await mine(browser));
      const forgot = /href="(\/forgot-password[^"]*)"/.exec(await (await browser.get(at)).text())?.[1] ?? '';
      const asked = forgot.replaceAll('&amp;', '&');
      expect(asked).toContain(encodeURIComponent(offerPath));
      const to = locationOf(await browser.post(asked, { username: user.email }));
      const code = await codeFor(context.foyer, user.email);
      const reset = pathOf(await browser.post(to, { code, password: newPassword, confirm: newPassword }));
      // The continuation survives all steps.
      expect(reset).toContain(encodeURIComponent(offerPath));
      const given = { username: user.email, password: newPassword };
      expect(pathOf(await browser.post(`/sign-in${new URL(reset, context.foyer.url).search}`, given))).toBe(offerPath);
      await browser.post(offerPath, { act: 'link' });
      expect(await signedInAs((await come(nameId, other)).browser)).toContain(user.email);
    });

    it('A user whose address and name have both changed cannot re-authenticate by that identity', async () => {
      const { user, nameId, facts, other } = await withPassword();
      const { browser } = await come(nameId, facts);
      const page = await browser.post('/re-authenticate/provider/acme-saml?redirect=/settings/password');
      const begun = await beginSamlFrom(page, browser);
      const said = { nameId, nameIdFormat: formats.unspecified, attributes: { ...other } };
      const to = await arrive(context.foyer, begun, await answerXml(context.providers, begun, said));
      expect(to).toContain('#federation:not-yours');
      expect(await linksOf(user)).toMatchObject([{ email: facts.mail }]);
    });
  });
});
