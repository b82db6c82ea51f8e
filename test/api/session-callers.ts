import { createGrantHooks } from '../../server/oidc/index.ts';
import { endAllSessions } from '../../server/sessions/index.ts';
import { setDisabled } from '../../server/users/index.ts';
import { giveTotp } from '../sign-in/factor-steps.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { lateMs, ownPage } from './callers.ts';
import { always, asMember, asReader, type Caller, late, withoutFactor } from './expected-status.ts';

/** A member's session, sent from a page with these headers. */
const session = (headersOf: (foyer: TestFoyer) => Record<string, string>, expected: Caller['expected']): Caller => ({
  async credentials(foyer) {
    const user = await foyer.addUser();
    return { browser: await foyer.signedIn(user), headers: headersOf(foyer), is: user.id };
  },
  expected,
});

/** Callers without a token: visitors, and browsers with a session cookie. */
export const sessionCallers: Record<string, Caller> = {
  'no session': { credentials: async () => ({}), expected: always(401) },
  'no session, from an own page': {
    credentials: async (foyer) => ({ headers: ownPage(foyer) }),
    expected: always(401),
  },
  'a member’s session on an own page': session(ownPage, asMember),
  'a member’s session from a page of another site': session(
    () => ({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }),
    always(403),
  ),
  'a member’s session from a sibling’s page': session(
    () => ({ 'sec-fetch-site': 'same-site', origin: 'https://sibling.localhost' }),
    always(403),
  ),
  'a member’s session from a sandboxed frame': session(
    () => ({ 'sec-fetch-site': 'cross-site', origin: 'null' }),
    always(403),
  ),
  'a member’s session from another site in an old browser': session(
    () => ({ origin: 'https://evil.example' }),
    always(403),
  ),
  'a member’s session whose page’s origin does not fit': session(
    () => ({ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }),
    always(403),
  ),
  'the session of a disabled member': {
    async credentials(foyer) {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await setDisabled(foyer.deps.database.db, user.id, { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() });
      return { browser, headers: ownPage(foyer) };
    },
    expected: always(401),
  },
  'a session that ended elsewhere': {
    async credentials(foyer) {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await endAllSessions({ kv: foyer.deps.kv, hooks: createGrantHooks(foyer.app.oauth.grants) }, user.id);
      return { browser, headers: ownPage(foyer) };
    },
    expected: always(401),
  },
  'a forged session cookie': {
    async credentials(foyer) {
      const browser = foyer.browser();
      await browser.jar.setCookie('foyer_session=s%3Aforged.forged; Path=/', foyer.url);
      return { browser, headers: ownPage(foyer) };
    },
    expected: always(401),
  },
  'an old session of a member': {
    async credentials(foyer) {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      foyer.passTime(lateMs);
      return { browser, headers: ownPage(foyer), is: user.id };
    },
    expected: late(asMember),
  },
  'a session from before the second factor': {
    async credentials(foyer) {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await giveTotp(foyer, user);
      return { browser, headers: ownPage(foyer), is: user.id };
    },
    expected: withoutFactor(asMember),
  },
  'the session of a member who must accept new terms': {
    async credentials(foyer) {
      const user = await foyer.addUser({ acceptedTosVersion: null });
      return { browser: await foyer.signedIn(user), headers: ownPage(foyer), is: user.id };
    },
    expected: asReader,
  },
};
