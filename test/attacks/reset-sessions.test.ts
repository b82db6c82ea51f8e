import * as oidc from 'openid-client';
import { ask, codeFor, reset, submit } from '../password/steps.ts';
import { locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { setUpReset } from './reset-steps.ts';

/** `security.md`, rule 13. */
describe.each(backends)('a password reset under attack, on $name', (backend) => {
  const context = setUpReset(backend);
  const { rowOf, signIn } = context;

  it('A reset revokes old sessions, grants, access and refresh tokens and forgets devices', async () => {
    const user = await context.foyer.addUser();
    const app = await relyingParty(context.foyer, await context.foyer.addClient());
    const thief = context.foyer.browser();
    const tokens = await tokensFor(app, thief, user);
    expect((await thief.get('/')).status).toBe(303);
    await reset(context.foyer, context.foyer.browser(), user.email);
    expect((await thief.get('/')).status).toBe(200);
    await expect(oidc.fetchUserInfo(app.config, tokens.access_token, user.id)).rejects.toThrow();
    await expect(oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '')).rejects.toThrow();
    const silent = new URL(locationOf(await thief.get((await app.begin({ prompt: 'none' })).url)));
    expect(silent.searchParams.get('error')).toBe('login_required');
    // The thief's browser is no longer known: it shares the codes and guesses of strangers.
    for (let n = 0; n < 10; n += 1) await context.foyer.browser().post('/forgot-password', { username: user.email });
    expect((await thief.post('/forgot-password', { username: user.email })).status).toBe(429);
  });

  it('A reset neither signs in nor changes anything else of the account', async () => {
    const user = await context.foyer.addUser({ phone: '+4915155512345', phoneVerified: true });
    const before = await rowOf(user);
    const browser = context.foyer.browser();
    await reset(context.foyer, browser, user.email);
    expect(await browser.cookies()).not.toHaveProperty('foyer_session');
    const after = await rowOf(user);
    // This browser is known after the reset; the next other browser causes a mail.
    expect(after.signedInEpoch).toBe(after.passwordEpoch);
    const {
      passwordHash: _,
      passwordEpoch: __,
      passwordChangedAt,
      updatedAt: ___,
      signedInEpoch: ____,
      ...rest
    } = after;
    expect(passwordChangedAt).toBeGreaterThan(before.passwordChangedAt ?? 0);
    expect(before).toMatchObject(rest);
  });

  it('A sign-in with the old password that runs during the reset leaves no user signed in', async () => {
    for (let round = 0; round < 6; round += 1) {
      const user = await context.foyer.addUser();
      const owner = context.foyer.browser();
      await ask(owner, user.email);
      const code = await codeFor(context.foyer, user.email);
      const thieves = Array.from({ length: 4 }, () => context.foyer.browser());
      await Promise.all([
        submit(owner, user.email, code),
        ...thieves.map(async (thief, n) => {
          // The sign-ins are spread over the time of the reset.
          await new Promise((resolve) => setTimeout(resolve, n * 15));
          await signIn(thief, user, password);
        }),
      ]);
      const inside = await Promise.all(thieves.map(async (thief) => (await thief.get('/')).status));
      expect(inside).toEqual([200, 200, 200, 200]);
    }
  });

  it('A sign-in whose password was checked before the reset and whose session starts after it is refused', async () => {
    const user = await context.foyer.addUser();
    const { passwords } = context.foyer.deps;
    const { verify } = passwords;
    const between: { act?: (() => Promise<void>) | undefined } = {};
    passwords.verify = async (...given) => {
      const right = await verify(...given);
      await between.act?.();
      return right;
    };
    try {
      between.act = async () => {
        between.act = undefined;
        await reset(context.foyer, context.foyer.browser(), user.email);
      };
      const thief = context.foyer.browser();
      const answer = await signIn(thief, user, password);
      expect(answer.status).toBe(401);
      expect((await thief.get('/')).status).toBe(200);
      expect(await context.foyer.stores.kv.setMembers(`sessions-of:${user.id}`)).toHaveLength(1);
    } finally {
      passwords.verify = verify;
    }
  });
});
