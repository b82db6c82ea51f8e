import { begin, confirm, newAddress } from '../sign-up/steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { createWrappedHooks } from '../support/subscribers.ts';

const started = [
  'onSessionStarted replaceProviderSession',
  'onSessionStarted mintTokenCookies',
  'onSessionStarted countSession',
];
const afterSignIn = ['afterSignIn recordSignIn', 'afterSignIn rememberDevice', 'afterSignIn notifyNewDevice'];
const cancelled = 'beforeSignIn cancelPendingDeletion';
const ended = 'onSessionsEnded revokeGrantsOfSessions';

describe('The subscribers in the wiring of the application', () => {
  const calls: string[] = [];
  const takeCalls = () => calls.splice(0);
  const hooks = createWrappedHooks((act, name) => (...event) => {
    calls.push(name);
    return act(...event);
  });
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, {}, { hooks });
  });
  afterAll(() => foyer?.close());
  beforeEach(() => void takeCalls());

  it('A sign-in calls each subscriber once, in the listed order, and may be refused first', async () => {
    await foyer.signedIn(await foyer.addUser());
    expect(takeCalls()).toEqual([cancelled, ...started, ...afterSignIn]);
  });

  it('A second sign-in in the same browser moves the grants before the new session starts', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    takeCalls();
    const answer = await browser.post('/sign-in', { username: user.email, password });
    expect(answer.status).toBe(303);
    expect(takeCalls()).toEqual([cancelled, 'onSessionReplaced moveGrants', ...started, ...afterSignIn]);
  });

  it('A sign-out revokes grants before and after the record of the session is gone, then clears the cookies', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    takeCalls();
    await browser.post('/logout', {});
    expect(takeCalls()).toEqual([
      ended,
      ended,
      'afterSignOut clearTokenCookies',
      'afterSignOut endProviderSession',
      'afterSignOut recordSignOut',
    ]);
  });

  it('The end of all sessions of a user reaches each subscriber, also for data without a session', async () => {
    const user = await foyer.addUser();
    await foyer.signedIn(user);
    takeCalls();
    expect(await foyer.app.sessions.endAll(user.id)).toBe(1);
    expect(takeCalls()).toEqual([ended, ended, 'onAllSessionsEnded revokeGrantsOfUser']);
  });

  it('The end of the other sessions of a user revokes the access that outlives them', async () => {
    const user = await foyer.addUser();
    await foyer.signedIn(user);
    const [session] = await foyer.app.sessions.list(user.id);
    takeCalls();
    if (session) await foyer.app.sessions.endOtherSessions(user.id, session.idHash);
    expect(takeCalls()).toEqual(['onOtherSessionsEnded revokeOfflineAccess']);
  });

  it('A sign-up creates the user before the sign-in, and each subscriber is called once', async () => {
    const [browser, email] = [foyer.browser(), newAddress()];
    await confirm(browser, await begin(foyer, browser, email));
    const created = [
      'onUserCreated recordAccount',
      'onUserCreated mailWelcome',
      'onUserCreated requestCustomer',
      'afterUserCreated createCustomer',
    ];
    expect(takeCalls()).toEqual([...created, cancelled, ...started, ...afterSignIn]);
  });
});
