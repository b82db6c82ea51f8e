import { parseSamlMessage, readRedirect, type SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { listIdentities } from '../../server/federation/index.ts';
import { findUserByIdentifier, type User } from '../../server/users/index.ts';
import { codeFor, newPassword } from '../password/steps.ts';
import { appCode, giveTotp, show } from '../sign-in/factor-steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { answerXml, arrive, beginSaml, federationLog, pathOf } from '../support/saml.ts';
import { backends } from '../support/stores.ts';

const formats = {
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
};
const reusedPath = '/federation/link/account';
const offerPath = '/federation/link';

/** A provider gave the user name or the address of somebody who left to another person. */
describe.each(backends)('a SAML subject that was given to another person, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    foyer = await startFoyer(backend, {
      GUESS_LIMIT_ADDRESS: '100000',
      SIGN_UP_LIMIT_ADDRESS: '100000',
      ...providers.environment((file) => {
        const saml = file.providers[1] as Record<string, unknown>;
        const more = (id: string, change: object) => ({ ...saml, id, entityId: `https://${id}.example`, ...change });
        return {
          ...file,
          providers: [
            ...file.providers,
            more('by-number', { domains: ['number.example'], subject: 'number' }),
            more('vouched', { domains: ['vouched.example'], permanentNameIdFormats: [formats.email] }),
            more('closed', { domains: ['closed.example'], signUp: false }),
          ],
        };
      }),
    });
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  const db = () => foyer.stores.database.db;
  const member = (email: string) => findUserByIdentifier(db(), { email });
  const linksOf = ({ id }: User) => listIdentities(db(), id);
  const accept = (user: User) =>
    db()
      .updateTable('users')
      .set({ accepted_tos_version: foyer.deps.terms.number })
      .where('id', '=', user.id)
      .execute();
  const signedInAs = async (browser: Browser) => {
    const page = await browser.get('/settings');
    return page.status === 200 ? page.text() : undefined;
  };

  interface Facts {
    mail?: string;
    givenName?: string;
    sn?: string;
  }
  async function come(nameId: string, facts: Facts, change: SamlResponseOptions = {}, provider = 'acme-saml') {
    const attempt = await beginSaml(foyer, { provider });
    const issuer = provider === 'acme-saml' ? {} : { issuer: `https://${provider}.example` };
    const said = { ...issuer, nameId, nameIdFormat: formats.unspecified, attributes: { ...facts }, ...change };
    const to = await arrive(foyer, attempt, await answerXml(providers, attempt, said));
    return { to, browser: attempt.browser };
  }

  let people = 0;
  /** A member who came by the provider under this user name. */
  async function memberBy(change: SamlResponseOptions = {}, provider = 'acme-saml', domain = 'corp.acme.example') {
    people += 1;
    const facts = { mail: `lovelace.${people}@${domain}`, givenName: 'Ada', sn: 'Lovelace' };
    const nameId = `user-${people}`;
    await come(nameId, facts, change, provider);
    const user = await member(facts.mail);
    if (!user) throw new Error('no member was made');
    await accept(user);
    const other = { mail: `jones.${people}@${domain}`, givenName: 'Adam', sn: 'Jones' };
    return { user, nameId, facts, other };
  }

  it('A user’s user name with another address and another name does not sign in to the account', async () => {
    const { user, nameId, other } = await memberBy();
    const before = await linksOf(user);
    const { to, browser } = await come(nameId, other);
    expect(to).toBe(reusedPath);
    expect(await signedInAs(browser)).toBeUndefined();
    const page = await (await browser.get(reusedPath)).text();
    expect(page).toContain('Adam Jones');
    // Nothing of the account is shown to a person who may be another.
    expect(page).not.toContain(user.email);
    expect(page).not.toContain('Lovelace');
    expect(await linksOf(user)).toEqual(before);
    expect(federationLog(foyer).at(-1)).toMatchObject({ outcome: 'to-prove' });
  });

  it('A user’s address as the NameID with another name does not sign in to the account', async () => {
    people += 1;
    const mail = `shared.${people}@corp.acme.example`;
    const byEmail = { nameIdFormat: formats.email };
    await come(mail, { mail, givenName: 'Ada', sn: 'Lovelace' }, byEmail);
    await accept((await member(mail)) as User);
    const attack = await come(mail, { mail, givenName: 'Adam', sn: 'Jones' }, byEmail);
    expect(attack.to).toBe(reusedPath);
    expect(await signedInAs(attack.browser)).toBeUndefined();
    const owner = await come(mail, { mail, givenName: 'Ada', sn: 'Lovelace' }, byEmail);
    expect(await signedInAs(owner.browser)).toContain(mail);
  });

  it('An address that follows from the user name is not enough to sign in', async () => {
    people += 1;
    const [nameId, mail] = [`ada${people}`, `ada${people}@corp.acme.example`];
    await come(nameId, { mail, givenName: 'Ada', sn: 'Lovelace' });
    expect((await come(nameId, { mail, givenName: 'Ada', sn: 'Jones' })).to).toBe(reusedPath);
  });

  it('A user name without any other fact does not sign in to the account', async () => {
    const { nameId } = await memberBy();
    const { to, browser } = await come(nameId, {});
    expect(to).toBe(reusedPath);
    expect(await signedInAs(browser)).toBeUndefined();
  });

  it('A user whose address or name alone has changed signs in, and the new fact counts from then on', async () => {
    const { user, nameId, facts, other } = await memberBy();
    const married = { ...facts, givenName: other.givenName, sn: other.sn };
    expect(await signedInAs((await come(nameId, married)).browser)).toContain(user.email);
    expect(await signedInAs((await come(nameId, other)).browser)).toContain(user.email);
    expect((await come(nameId, { ...facts, mail: 'third@corp.acme.example' })).to).toBe(reusedPath);
  });

  it('A link from before names were stored is compared with the name of the account', async () => {
    const { user, nameId, facts, other } = await memberBy();
    await db()
      .updateTable('federated_identities')
      .set({ name: null, email: null })
      .where('user_id', '=', user.id)
      .execute();
    expect((await come(nameId, other)).to).toBe(reusedPath);
    const sameName = { ...facts, mail: 'elsewhere@corp.acme.example' };
    expect(await signedInAs((await come(nameId, sameName)).browser)).toContain(user.email);
  });

  it.each([
    ['persistent NameID', 'acme-saml', { nameIdFormat: formats.persistent }, 'corp.acme.example'],
    ['attribute that the operator named', 'by-number', { nameIdFormat: formats.unspecified }, 'number.example'],
    ['format that the operator named as permanent', 'vouched', { nameIdFormat: formats.email }, 'vouched.example'],
  ] as const)(
    'A permanent subject signs in, whatever else has changed: %s',
    async (_what, provider, change, domain) => {
      people += 1;
      const number = `number-${people}`;
      const with_ = (facts: Facts) => come(`who-${people}`, { ...facts, number } as Facts, change, provider);
      const mail = `first.${people}@${domain}`;
      await with_({ mail, givenName: 'Ada', sn: 'Lovelace' });
      const user = (await member(mail)) as User;
      await accept(user);
      const { browser } = await with_({ mail: `other.${people}@${domain}`, givenName: 'Adam', sn: 'Jones' });
      expect(await signedInAs(browser)).toContain(user.email);
    },
  );

  describe('a user whose address and name have both changed', () => {
    const mine = (browser: Browser) => browser.post(reusedPath, { act: 'mine' });
    const signIn = (browser: Browser, user: User) =>
      browser.post(`/sign-in?redirect=${offerPath}`, { username: user.email, password });
    async function withPassword() {
      const made = await memberBy();
      const { passwordHash: password_hash } = await foyer.addUser();
      await db().updateTable('users').set({ password_hash }).where('id', '=', made.user.id).execute();
      return { ...made, user: (await member(made.user.email)) as User };
    }

    it('A user with a changed address and name confirms the link by the password and signs in by the provider again', async () => {
      const { user, nameId, other } = await withPassword();
      const { browser } = await come(nameId, other);
      const to = pathOf(await mine(browser));
      expect(to).toBe(
        `/?${new URLSearchParams({ redirect: offerPath, notice: 'federation-prove', provider: 'acme-saml' })}`,
      );
      expect(await (await browser.get(to)).text()).toContain('show that the account is yours');
      expect(pathOf(await signIn(browser, user))).toBe(offerPath);
      expect(await (await browser.get(offerPath)).text()).toContain('Keep signing in with Acme Corporate?');
      expect((await browser.post(offerPath, { act: 'link' })).status).toBe(303);
      expect(await linksOf(user)).toMatchObject([{ subject: nameId, email: other.mail, name: 'Adam Jones' }]);
      expect((await foyer.mails(user.email)).at(-1)).toMatchObject({
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
      const secret = await giveTotp(foyer, user);
      const { browser } = await come(nameId, other);
      await mine(browser);
      const factor = pathOf(await signIn(browser, user));
      expect(factor).toMatch(/^\/second-factor/);
      expect((await browser.post(offerPath, { act: 'link' })).status).toBe(303);
      expect(await linksOf(user)).toMatchObject([{ email: facts.mail }]);
      await show(browser, await appCode(foyer, secret), {}, new URL(factor, foyer.url).search);
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
      const code = await codeFor(foyer, user.email);
      const reset = pathOf(await browser.post(to, { code, password: newPassword, confirm: newPassword }));
      // The errand is kept all the way.
      expect(reset).toContain(encodeURIComponent(offerPath));
      const given = { username: user.email, password: newPassword };
      expect(pathOf(await browser.post(`/sign-in${new URL(reset, foyer.url).search}`, given))).toBe(offerPath);
      await browser.post(offerPath, { act: 'link' });
      expect(await signedInAs((await come(nameId, other)).browser)).toContain(user.email);
    });

    it('A user whose address and name have both changed cannot re-authenticate by that identity', async () => {
      const { user, nameId, facts, other } = await withPassword();
      const { browser } = await come(nameId, facts);
      const page = await browser.post('/re-authenticate/provider/acme-saml?redirect=/settings/password');
      const begun = await beginSamlFrom(page, browser);
      const said = { nameId, nameIdFormat: formats.unspecified, attributes: { ...other } };
      const to = await arrive(foyer, begun, await answerXml(providers, begun, said));
      expect(to).toContain('notice=federation-not-yours');
      expect(await linksOf(user)).toMatchObject([{ email: facts.mail }]);
    });
  });

  describe('the person who has the user name now', () => {
    const fresh = (browser: Browser) => browser.post(reusedPath, { act: 'new' });

    it('The new person gets an own account, and the former user keeps the account without this link and gets a mail', async () => {
      const { user, nameId, other } = await memberBy();
      const { browser } = await come(nameId, other);
      expect((await fresh(browser)).status).toBe(303);
      const owner = (await member(other.mail)) as User;
      expect(owner.id).not.toBe(user.id);
      expect(await linksOf(owner)).toMatchObject([{ subject: nameId, name: 'Adam Jones' }]);
      expect(await linksOf(user)).toEqual([]);
      expect((await foyer.mails(user.email)).at(-1)).toMatchObject({
        template: 'security-notice',
        values: { change: 'provider-removed' },
      });
      await accept(owner);
      expect(await signedInAs((await come(nameId, other)).browser)).toContain(other.mail);
    });

    it('The new person who asks several times at once gets one account and no access to the former user’s account', async () => {
      const { user, nameId, other } = await memberBy();
      const { browser } = await come(nameId, other);
      const answers = await Promise.all([fresh(browser), fresh(browser), fresh(browser)]);
      expect(answers.every(({ status }) => status === 303)).toBe(true);
      const owner = (await member(other.mail)) as User;
      expect([await linksOf(owner), await linksOf(user)]).toMatchObject([[{ subject: nameId }], []]);
    });

    it('A provider that creates no accounts refuses the new person, and the link stays', async () => {
      const { user, nameId, facts, other } = await memberBy();
      await db()
        .updateTable('federated_identities')
        .set({ issuer: 'https://closed.example', provider: 'closed' })
        .where('user_id', '=', user.id)
        .execute();
      const { browser } = await come(nameId, other, {}, 'closed');
      expect(pathOf(await fresh(browser))).toContain('notice=federation-sign-up-closed');
      expect(await linksOf(user)).toMatchObject([{ email: facts.mail }]);
    });

    it('The new person cannot take the link of a user who has proven the account in the meantime', async () => {
      const { user, nameId, facts, other } = await memberBy();
      const { browser } = await come(nameId, other);
      foyer.passTime(1_000);
      await come(nameId, facts);
      expect(pathOf(await fresh(browser))).toBe(reusedPath);
      expect(await linksOf(user)).toMatchObject([{ subject: nameId, email: facts.mail }]);
    });

    it('Another site cannot press the buttons, and without such a sign-in there is nothing to decide', async () => {
      const { user, nameId, other } = await memberBy();
      const { browser } = await come(nameId, other);
      const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      for (const act of ['mine', 'new']) expect((await browser.post(reusedPath, { act }, evil)).status).toBe(403);
      expect((await browser.post(reusedPath, { act: 'take' })).status).toBe(400);
      expect(await linksOf(user)).toHaveLength(1);
      for (const answer of [
        await foyer.browser().get(reusedPath),
        await foyer.browser().post(reusedPath, { act: 'new' }),
      ])
        expect(pathOf(answer)).toBe('/');
    });
  });

  async function beginSamlFrom(page: Response, browser: Browser) {
    const text = await page.text();
    const [, address = ''] = /url=([^"]+)"/i.exec(text) ?? [];
    const url = new URL(address.replaceAll('&amp;', '&'));
    const message = parseSamlMessage(readRedirect(url.search)?.xml ?? '');
    const request = { id: message?.id ?? '', acsUrl: message?.acsUrl ?? '', app: message?.issuer ?? '' };
    return { browser, url, relayState: url.searchParams.get('RelayState') ?? '', request };
  }
});
