import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { toProviderId } from '../support/ids.ts';
import { federationLog, pathOf } from '../support/saml.ts';
import { backends } from '../support/stores.ts';
import { type Facts, formats, setUpReusedNames } from './reused-names-steps.ts';

const reusedPath = '/federation/link/account';

/** A provider gives the user name or address of a former employee to another person. */
describe.each(backends)('a SAML subject that was given to another person, on $name', (backend) => {
  const context = setUpReusedNames(backend);
  const { db, member, linksOf, accept, signedInAs, come, memberBy, newNumber } = context;

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
    expect(federationLog(context.foyer).at(-1)).toMatchObject({ outcome: 'to-prove' });
  });

  it('A user’s address as the NameID with another name does not sign in to the account', async () => {
    const mail = `shared.${newNumber()}@corp.acme.example`;
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
    const number = newNumber();
    const [nameId, mail] = [`ada${number}`, `ada${number}@corp.acme.example`];
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
      .updateTable('federatedIdentities')
      .set({ name: null, email: null })
      .where('userId', '=', user.id)
      .execute();
    expect((await come(nameId, other)).to).toBe(reusedPath);
    const sameName = { ...facts, mail: 'elsewhere@corp.acme.example' };
    expect(await signedInAs((await come(nameId, sameName)).browser)).toContain(user.email);
  });

  it.each([
    ['a persistent NameID', 'acme-saml', { nameIdFormat: formats.persistent }, 'corp.acme.example'],
    ['an attribute that the operator named', 'by-number', { nameIdFormat: formats.unspecified }, 'number.example'],
    ['a format that the operator named as permanent', 'vouched', { nameIdFormat: formats.email }, 'vouched.example'],
  ] as const)(
    'A permanent subject signs in, whatever else has changed: %s',
    async (_what, provider, change, domain) => {
      const own = newNumber();
      const number = `number-${own}`;
      const with_ = (facts: Facts) => come(`who-${own}`, { ...facts, number } as Facts, change, provider);
      const mail = `first.${own}@${domain}`;
      await with_({ mail, givenName: 'Ada', sn: 'Lovelace' });
      const user = (await member(mail)) as User;
      await accept(user);
      const { browser } = await with_({ mail: `other.${own}@${domain}`, givenName: 'Adam', sn: 'Jones' });
      expect(await signedInAs(browser)).toContain(user.email);
    },
  );

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
      expect((await context.foyer.mails(user.email)).at(-1)).toMatchObject({
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
        .updateTable('federatedIdentities')
        .set({ issuer: 'https://closed.example', provider: toProviderId('closed') })
        .where('userId', '=', user.id)
        .execute();
      const { browser } = await come(nameId, other, {}, 'closed');
      expect(pathOf(await fresh(browser))).toContain('#federation:sign-up-closed');
      expect(await linksOf(user)).toMatchObject([{ email: facts.mail }]);
    });

    it('The new person cannot take the link of a user who has proven the account in the meantime', async () => {
      const { user, nameId, facts, other } = await memberBy();
      const { browser } = await come(nameId, other);
      context.foyer.passTime(1_000);
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
        await context.foyer.browser().get(reusedPath),
        await context.foyer.browser().post(reusedPath, { act: 'new' }),
      ])
        expect(pathOf(answer)).toBe('/');
    });
  });
});
