import { insertIdentity } from '../../server/federation/identity-store.ts';
import type { UpstreamIdentity } from '../../server/federation/index.ts';
import { countRecoveryCodes, hasTotp } from '../../server/mfa/index.ts';
import { countPasskeys } from '../../server/passkeys/index.ts';
import { claimUnverifiedUser, findUserByIdentifier } from '../../server/users/index.ts';
import { comeBy, somebody } from '../federation/steps.ts';
import { memberWithPasskey, signInWith } from '../passkeys/steps.ts';
import { appCode, giveRecoveryCodes, giveTotp, isSignedIn, show, toChallenge } from '../sign-in/factor-steps.ts';
import { codeFor, newAddress, profile } from '../sign-up/steps.ts';
import { locationOf, noticeOf } from '../support/browser.ts';
import { toE164, toNormalisedEmail, toProviderId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { setUpFederatedAccounts } from './federated-accounts-steps.ts';

const evilPassword = 'mallory knows 7';
const offerPath = '/federation/link';

describe.each(backends)('attacks on accounts by way of a provider, on $name', (backend) => {
  const context = setUpFederatedAccounts(backend);
  const { db, member, links, path, by, signIn } = context;

  describe('takeover of an account by an unproven address', () => {
    it.each([
      ['the provider does not vouch for it', 'google', { emailVerified: false }],
      ['Facebook does not say whether it is verified', 'facebook', {}],
      ['Amazon does not say whether it is verified', 'amazon', {}],
      [
        'it is outside the domains of the company, although the company vouches for it',
        'oidc',
        { emailVerified: true },
      ],
      ['it is outside the domains of the company and comes by SAML', 'saml', {}],
    ] as const)(
      'An attacker does not take over a user’s account by an unproven address: %s',
      async (_what, kind, more) => {
        const victim = await context.foyer.addUser();
        const mallory = context.foyer.browser();
        const answer = await by(mallory, kind, victim.email, more);
        expect(noticeOf(locationOf(answer))).toBe('federation:email-taken');
        expect(await isSignedIn(mallory)).toBe(false);
        expect(await links(victim)).toEqual([]);
        expect(path(await mallory.get(offerPath))).toBe('/');
        expect(await member(victim.email)).toEqual(victim);
      },
    );

    it('An address in other letter case is the same address', async () => {
      const victim = await context.foyer.addUser();
      const mallory = context.foyer.browser();
      await by(mallory, 'facebook', victim.email.toUpperCase());
      expect(await isSignedIn(mallory)).toBe(false);
      expect((await db().selectFrom('users').select('id').where('email', 'like', victim.email).execute()).length).toBe(
        1,
      );
    });

    it('A proven address of a user leads to an offer to link and does not sign in', async () => {
      const victim = await context.foyer.addUser();
      const mallory = context.foyer.browser();
      expect(path(await by(mallory, 'google', victim.email))).toMatch(/#federation:offer/);
      expect(await isSignedIn(mallory)).toBe(false);
      expect((await mallory.post(offerPath, { act: 'link' })).status).toBe(303);
      expect(await links(victim)).toEqual([]);
    });
  });

  describe('an account that an attacker created before its owner', () => {
    it('An attacker who started a sign-up with a password keeps nothing once the owner comes by a provider', async () => {
      for (const house of [context.foyer, context.silent]) {
        const ada = somebody(context.providers, 'google');
        const email = ada.email ?? '';
        const mallory = house.browser();
        await mallory.post('/signup', profile(email, { password: evilPassword }));
        const code = await codeFor(house, email);
        await comeBy(context.providers, house.browser(), 'google', ada);
        const owner = await findUserByIdentifier(house.stores.database.db, { email: toNormalisedEmail(email) });
        expect(owner).toMatchObject({ emailVerified: true, passwordHash: null, givenName: 'Ada' });
        const guessed = await house.browser().post('/sign-in', { username: email, password: evilPassword });
        expect(guessed.headers.get('location')).toBe(house === context.silent ? '/verify-code' : null);
        // The code from the owner's mail does not help either.
        expect((await mallory.post('/signup/emailCaptured', { code })).status).toBe(409);
        expect(await isSignedIn(mallory)).toBe(false);
        expect(await findUserByIdentifier(house.stores.database.db, { email: toNormalisedEmail(email) })).toEqual(
          owner,
        );
      }
    });

    it('Claiming an unconfirmed account removes its creator’s password, session, factors, passkeys, number and links', async () => {
      const { user, browser: mallory, authenticator } = await memberWithPasskey(context.foyer);
      const phone = `+49151${String(Date.now()).slice(-8)}`;
      const secret = await giveTotp(context.foyer, user);
      await giveRecoveryCodes(context.foyer, user);
      const challenged = context.foyer.browser();
      await toChallenge(challenged, user);
      const identity: UpstreamIdentity = {
        provider: toProviderId('facebook'),
        kind: 'facebook',
        issuer: 'https://www.facebook.com',
        subject: user.id,
        email: undefined,
        emailVerified: false,
        givenName: '',
        familyName: '',
        picture: undefined,
        session: { provider: toProviderId('facebook') },
      };
      await context.foyer.stores.database.transaction((trx) =>
        insertIdentity(trx, { userId: user.id, identity, nowMs: 1, used: false }),
      );
      const unconfirmed = { emailVerified: 0, phone: toE164(phone), phoneVerified: 1 };
      await db().updateTable('users').set(unconfirmed).where('id', '=', user.id).execute();

      const owner = context.foyer.browser();
      expect((await by(owner, 'google', user.email)).status).toBe(303);
      expect(await isSignedIn(owner)).toBe(true);
      expect(await member(user.email)).toMatchObject({
        id: user.id,
        emailVerified: true,
        passwordHash: null,
        passwordEpoch: user.passwordEpoch + 1,
        mfaPreference: 'none',
        phone: null,
        phoneVerified: false,
      });
      expect(await links(user)).toMatchObject([{ kind: 'google' }]);
      expect([await hasTotp(db(), user.id), await countPasskeys(db(), user.id)]).toEqual([false, 0]);
      expect((await countRecoveryCodes(db(), user.id)).left).toBe(0);
      expect(await isSignedIn(mallory)).toBe(false);
      for (const name of [user.email, phone]) expect((await signIn(context.foyer.browser(), name)).status).toBe(400);
      expect((await signInWith(context.foyer.browser(), authenticator)).status).toBe(400);
      await show(challenged, await appCode(context.foyer, secret));
      expect(await isSignedIn(challenged)).toBe(false);
      expect((await context.foyer.mails(user.email)).map(({ template }) => template)).toContain('welcome');
    });

    it('An account that is confirmed, disabled or reset at the moment of the claim is not claimed', async () => {
      const names = { givenName: 'Mallory', familyName: '' };
      for (const change of [{ emailVerified: 1 }, { disabledAt: 1 }, { passwordEpoch: 7 }, { email: newAddress() }]) {
        const user = await context.foyer.addUser({ emailVerified: false });
        await db().updateTable('users').set(change).where('id', '=', user.id).execute();
        expect(
          await context.foyer.stores.database.transaction((trx) => claimUnverifiedUser(trx, user, { names, nowMs: 1 })),
        ).toBe(false);
      }
    });

    it('An unproven address does not claim an unconfirmed account', async () => {
      const user = await context.foyer.addUser({ emailVerified: false });
      await by(context.foyer.browser(), 'facebook', user.email);
      expect(await member(user.email)).toEqual(user);
    });

    it('Of a claim and a confirmation at once, the later one finds the account confirmed', async () => {
      for (let round = 0; round < 3; round += 1) {
        const user = await context.foyer.addUser({ emailVerified: false });
        const creator = context.foyer.browser();
        await signIn(creator, user.email);
        const code = await codeFor(context.foyer, user.email);
        const ada = somebody(context.providers, 'google', { email: user.email });
        const [confirmed, came] = await Promise.all([
          creator.post('/verify-code', { code }),
          comeBy(context.providers, context.foyer.browser(), 'google', ada),
        ]);
        const offered = path(came).includes('#federation:offer');
        const now = await member(user.email);
        expect([confirmed.status < 500, now?.emailVerified]).toEqual([true, true]);
        // If the confirmation comes first, the account keeps its password and a link is offered; otherwise the password
        // is removed.
        expect([now?.passwordHash === null, (await links(user)).length]).toEqual([!offered, offered ? 0 : 1]);
      }
    });

    it('An account that is claimed twice at once has one owner', async () => {
      const user = await context.foyer.addUser({ emailVerified: false });
      const ada = somebody(context.providers, 'google', { email: user.email });
      const answers = await Promise.all(
        [0, 1].map(() => comeBy(context.providers, context.foyer.browser(), 'google', ada)),
      );
      expect(answers.map(({ status }) => status)).toEqual([303, 303]);
      expect(await links(user)).toHaveLength(1);
      expect(await member(user.email)).toMatchObject({ passwordEpoch: user.passwordEpoch + 1, passwordHash: null });
    });
  });
});
