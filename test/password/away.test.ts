import * as oidc from 'openid-client';
import { type KeyValueStore, StoreUnavailable } from '../../server/store/index.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { ask, codeFor, newPassword, resetPath, submit } from './steps.ts';

const operations = ['get', 'set', 'update', 'delete', 'consumeCount', 'compareAndDelete', 'setMembers'] as const;

/** An interrupted reset happens as a whole or not at all. */
describe.each([anyBackend])('a reset whose store becomes unavailable', (backend) => {
  let foyer: TestFoyer;
  /** The number of calls that the key-value store still answers; undefined means all. */
  let left: number | undefined;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
    const kv = foyer.stores.kv as KeyValueStore & Record<string, (...given: never[]) => Promise<unknown>>;
    for (const name of operations) {
      const answer = kv[name];
      if (answer === undefined) throw new Error(`there is no ${name}`);
      Reflect.set(kv, name, async (...given: never[]) => {
        if (left === 0) throw new StoreUnavailable('the key-value store is away');
        if (left !== undefined) left -= 1;
        return Reflect.apply(answer, kv, given);
      });
    }
  });
  afterAll(() => foyer?.close());

  const signsIn = async (email: string, given: string) =>
    (await foyer.browser().post('/sign-in', { username: email, password: given })).status === 303;

  it('When the key-value store fails at any call, a new password never leaves an old session or token', async () => {
    const app = await relyingParty(foyer, await foyer.addClient());
    const outcomes = new Set<string>();
    let answered = false;
    for (let calls = 0; !answered; calls += 1) {
      const user = await foyer.addUser();
      const thief = foyer.browser();
      const tokens = await tokensFor(app, thief, user);
      const browser = foyer.browser();
      await ask(browser, user.email);
      const code = await codeFor(foyer, user.email);
      left = calls;
      const answer = await submit(browser, user.email, code);
      left = undefined;
      answered = answer.status === 303;
      expect([303, 503]).toContain(answer.status);
      const isNew = await signsIn(user.email, newPassword);
      expect(await signsIn(user.email, password)).toBe(!isNew);
      if (isNew) {
        expect((await thief.get('/')).status).toBe(200);
        await expect(oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '')).rejects.toThrow();
      }
      outcomes.add(`${answer.status} ${isNew}`);
      expect(calls).toBeLessThan(60);
    }
    // Cut off before, cut off after, and not at all.
    expect([...outcomes].sort()).toEqual(['303 true', '503 false', '503 true']);
  });

  it('When the database fails after the code, nothing has changed and the code need not be entered again', async () => {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    await ask(browser, user.email);
    const code = await codeFor(foyer, user.email);
    const { database } = foyer.stores;
    const { transaction } = database;
    database.transaction = async () => {
      throw new StoreUnavailable('the database is away');
    };
    const refused = await submit(browser, user.email, code);
    database.transaction = transaction;
    expect(refused.status).toBe(503);
    expect(await signsIn(user.email, password)).toBe(true);
    const fields = { password: newPassword, confirm: newPassword };
    expect((await browser.post(resetPath(user.email), fields)).status).toBe(303);
    expect(await signsIn(user.email, newPassword)).toBe(true);
  });
});
