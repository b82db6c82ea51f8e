import { leadsTo } from '../account/mfa-steps.ts';
import { setBy, tokenCookieTools } from '../oidc/token-cookie-tools.ts';
import type { Browser } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { setUpSessionEnds } from './session-ends-steps.ts';

const newPassword = 'lantern copper willow 7';

describe.each(backends)('sessions that must end, on $name', (backend) => {
  const context = setUpSessionEnds(backend);
  const { isIn, idOf, signIn } = context;

  describe('parallel password changes', () => {
    it('Of 50 password changes at once in one browser one succeeds, and its new session and tokens stay valid', async () => {
      const user = await context.foyer.addUser();
      const browser = await signIn(user);
      const elsewhere = await signIn(user);
      const cookies = await browser.jar.getCookies(context.foyer.url);
      const copies = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const copy = context.foyer.browser();
          for (const cookie of cookies) await copy.jar.setCookie(cookie, context.foyer.url);
          return copy;
        }),
      );
      const answers = await Promise.all(
        copies.map(async (copy) => ({
          copy,
          answer: await copy.post('/settings/password', { old_password: password, new_password: newPassword }),
        })),
      );
      const winners = answers.filter(({ answer }) => leadsTo(answer) === '303 /settings#settings:password');
      expect(winners).toHaveLength(1);
      const [winner] = winners;
      if (!winner) return;
      expect(await isIn(winner.copy)).toBe(true);
      expect(await isIn(elsewhere)).toBe(false);
      for (const { copy } of answers) expect(await isIn(copy)).toBe(copy === winner.copy);
      // The token cookies of the winner's session open userinfo.
      const { userinfo } = tokenCookieTools(() => context.foyer);
      const { foyer_access_token: token = '' } = setBy(winner.answer);
      expect((await userinfo(token)).status).toBe(200);
      expect(await context.foyer.deps.kv.setMembers(`sessions-of:${user.id}`)).toEqual([await idOf(winner.copy)]);
    });

    it('A password change that loses the race and finishes late does not end the winner’s new session', async () => {
      const user = await context.foyer.addUser();
      const [winner, loser] = [await signIn(user), await signIn(user)];
      const { passwords } = context.foyer.deps;
      const hash = passwords.hash.bind(passwords);
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const late = 'copper lantern meadow 8';
      jest.spyOn(passwords, 'hash').mockImplementation(async (given, work) => {
        if (given === late) {
          reached.resolve();
          await released.promise;
        }
        return hash(given, work);
      });
      const change = (browser: Browser, to: string) =>
        browser.post('/settings/password', { old_password: password, new_password: to });
      const losing = change(loser, late);
      await reached.promise;
      const won = await change(winner, newPassword);
      expect(leadsTo(won)).toBe('303 /settings#settings:password');
      released.resolve();
      expect((await losing).status).not.toBe(303);
      expect([await isIn(winner), await isIn(loser)]).toEqual([true, false]);
      const { foyer_access_token: token = '' } = setBy(won);
      expect((await tokenCookieTools(() => context.foyer).userinfo(token)).status).toBe(200);
    });

    it('No earlier session opens a page when the process dies right after the new password is stored', async () => {
      const user = await context.foyer.addUser();
      const [browser, remembered] = [await signIn(user), await signIn(user, { remember: '1' })];
      const { database } = context.foyer.deps;
      await database.db
        .updateTable('users')
        .set({ passwordEpoch: user.passwordEpoch + 1 })
        .where('id', '=', user.id)
        .execute();
      expect([await isIn(browser), await isIn(remembered)]).toEqual([false, false]);
    });

    it('A session of an earlier release, without an epoch, continues and ends with a password change', async () => {
      const user = await context.foyer.addUser();
      const browser = await signIn(user);
      const { kv } = context.foyer.deps;
      const key = `session:${await idOf(browser)}`;
      const record = JSON.parse((await kv.get(key)) ?? '{}') as { user: Record<string, unknown> };
      const { passwordEpoch: _e, startedAtMs: _s, browserId: _b, ...before } = record.user;
      await kv.update(key, JSON.stringify({ ...record, user: before }));
      expect(await isIn(browser)).toBe(true);
      const other = await signIn(user);
      const fields = { old_password: password, new_password: newPassword };
      expect(leadsTo(await other.post('/settings/password', fields))).toBe('303 /settings#settings:password');
      expect(await isIn(browser)).toBe(false);
      expect(await kv.get(key)).toBeNull();
    });
  });
});
