import { parseSamlMessage, readRedirect } from '../../sandbox/providers/index.ts';
import { linksOf } from '../account/provider-steps.ts';
import { answerXml, arrive, beginSaml, goingOnTo, type SamlAttempt } from '../support/saml.ts';
import { wrap } from '../support/saml-wrapping.ts';
import { backends } from '../support/stores.ts';
import { setUpSamlFromOutside } from './saml-outside-steps.ts';

describe.each(backends)('SAML answers from outside, on $name', (backend) => {
  const context = setUpSamlFromOutside(backend);
  const { isSignedIn } = context;

  describe('linking an account by SAML', () => {
    /** A user who has just signed in starts linking and arrives at the provider. */
    async function linking(user = context.foyer.addUser()) {
      const member = await user;
      const browser = await context.foyer.signedIn(member);
      const url = await goingOnTo(await browser.post('/settings/providers/link?provider=acme-saml', {}));
      const message = parseSamlMessage(readRedirect(url.search)?.xml ?? '');
      const request = { id: message?.id ?? '', acsUrl: message?.acsUrl ?? '', app: message?.issuer ?? '' };
      return { user: member, browser, url, relayState: url.searchParams.get('RelayState') ?? '', request };
    }
    let people = 0;
    const person = () => {
      people += 1;
      return { nameId: `link-${people}`, attributes: { mail: `link-${people}@corp.acme.example` } };
    };
    const subjects = async (attempt: { user: { id: string } }) =>
      (await linksOf(context.foyer, attempt.user as never)).map(({ subject }) => subject);

    it('The right SAML answer links the account', async () => {
      const attempt = await linking();
      const who = person();
      expect(await arrive(context.foyer, attempt, await answerXml(context.providers, attempt, who))).toContain(
        '#providers:linked',
      );
      expect(await subjects(attempt)).toEqual([who.nameId]);
      const again = await beginSaml(context.foyer);
      await arrive(context.foyer, again, await answerXml(context.providers, again, who));
      expect(await isSignedIn(again.browser)).toBe(true);
    });

    it('The answer of an attacker in the browser of a victim who is linking links nothing', async () => {
      const [attacker, victim] = [await linking(), await linking()];
      const evil = await answerXml(context.providers, attacker, person());
      // The answer belongs to the attacker's attempt and arrives in the victim's browser.
      expect(await arrive(context.foyer, { ...attacker, browser: victim.browser }, evil)).toContain(
        'federation:foreign',
      );
      // The answer arrives for the victim's attempt.
      expect(await arrive(context.foyer, victim, evil)).toContain('federation:invalid');
      expect([await subjects(attacker), await subjects(victim)]).toEqual([[], []]);
    });

    it('The stolen answer of a victim in the browser of an attacker links nothing', async () => {
      const [attacker, victim] = [await linking(), await linking()];
      const stolen = await answerXml(context.providers, victim, person());
      expect(await arrive(context.foyer, attacker, stolen)).toContain('federation:invalid');
      expect(await arrive(context.foyer, { ...victim, browser: attacker.browser }, stolen)).toContain(
        'federation:foreign',
      );
      expect([await subjects(attacker), await subjects(victim)]).toEqual([[], []]);
    });

    it('An answer to a sign-in does not link, an answer to a link does not sign in, and none is accepted twice', async () => {
      const attempt = await linking();
      const signIn = await beginSaml(context.foyer);
      const who = person();
      expect(await arrive(context.foyer, attempt, await answerXml(context.providers, signIn, who))).toContain(
        'federation:invalid',
      );
      expect(await arrive(context.foyer, signIn, await answerXml(context.providers, attempt, who))).toContain(
        'federation:invalid',
      );
      expect(await isSignedIn(signIn.browser)).toBe(false);
      const xml = await answerXml(context.providers, attempt, who);
      expect(await arrive(context.foyer, attempt, xml)).toContain('#providers:linked');
      expect(await arrive(context.foyer, attempt, xml)).toContain('federation:over');
      expect(await subjects(attempt)).toEqual([who.nameId]);
    });

    it('An answer that is wrapped, changed or signed by a stranger links nothing', async () => {
      for (const forge of [
        async (attempt: SamlAttempt) => wrap(await answerXml(context.providers, attempt, person()), 'XSW 3'),
        async (attempt: SamlAttempt) =>
          (await answerXml(context.providers, attempt, person())).replace('</saml:NameID>', 'x</saml:NameID>'),
        (attempt: SamlAttempt) =>
          answerXml(context.providers, attempt, { ...person(), signer: context.providers.otherSigner() }),
        (attempt: SamlAttempt) => answerXml(context.providers, attempt, { ...person(), sign: 'none' }),
      ]) {
        const attempt = await linking();
        expect(await arrive(context.foyer, attempt, await forge(attempt))).toContain('federation:invalid');
        expect(await subjects(attempt)).toEqual([]);
      }
    });

    it('A provider account that is linked to another user stays linked to that user', async () => {
      const [owner, thief] = [await linking(), await linking()];
      const who = person();
      await arrive(context.foyer, owner, await answerXml(context.providers, owner, who));
      expect(await arrive(context.foyer, thief, await answerXml(context.providers, thief, who))).toContain(
        'federation:linked-elsewhere',
      );
      expect([await subjects(owner), await subjects(thief)]).toEqual([[who.nameId], []]);
    });
  });
});
