import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { plantRequest, requestCookie } from './plant.ts';

/**
 * `security.md`, rule 1: the attacker starts a request, the victim signs in, and the attacker tries to resume as the
 * victim.
 */
describe.each(backends)('a request begun in another browser, on $name', (backend) => {
  let foyer: TestFoyer;
  let app: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    app = await relyingParty(foyer, await foyer.addClient());
  });
  afterAll(() => foyer?.close());

  /** The attacker's own request, whose link the victim gets. */
  async function begunBy(attacker: Browser): Promise<{ id: string; link: string; resume: string }> {
    const link = locationOf(await attacker.get((await app.begin()).url));
    const id = new URL(link).searchParams.get('authorization_code') ?? '';
    expect(id).not.toBe('');
    return { id, link, resume: `/oauth2/authorize/${id}` };
  }

  async function expectNoCode(browser: Browser, resume: string): Promise<void> {
    const answer = await browser.get(resume);
    expect(answer.headers.get('location') ?? '').not.toMatch(/[?&]code=/);
    expect(await answer.text()).not.toMatch(/[?&]code=/);
    expect(answer.status).toBeLessThan(500);
    // The attacker's browser does not get the victim's session by the attempt.
    const silent = locationOf(await browser.get((await app.begin({ prompt: 'none' })).url));
    expect(new URL(silent).searchParams.get('error')).toBe('login_required');
  }

  it('A victim who opens the attacker’s link gets a page that says the request has ended and signs in without it', async () => {
    const [attacker, victim] = [foyer.browser(), foyer.browser()];
    const { id, link, resume } = await begunBy(attacker);
    const page = await victim.get(link, { from: 'cross-site' });
    expect(page.status).toBe(400);
    const html = await page.text();
    expect(html).toContain('name="password"');
    expect(html).not.toContain(id);
    await expectNoCode(attacker, resume);
  });

  it('With lock (a) alone, the signed-in victim can neither verify, consent to nor store the attacker’s request', async () => {
    const [attacker, victim] = [foyer.browser(), foyer.browser()];
    const { id, link, resume } = await begunBy(attacker);
    const user = await foyer.addUser();
    const signedIn = await victim.post(`/sign-in${new URL(link).search}`, { username: user.email, password });
    const verify = locationOf(signedIn);
    expect(new URL(verify).pathname).toBe('/verify-user');
    for (const answer of [
      await victim.get(verify),
      await victim.post('/storage', { authorization_code: id }),
      await victim.post(`/storage${new URL(link).search}`, { authorization_code: id }),
      await victim.get(`/consent?authorization_code=${id}`),
      await victim.post('/consent', { authorization_code: id, decision: 'allow' }),
    ]) {
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('<h1')]);
    }
    const json = await victim.postJson('/storage', { authorization_code: id });
    expect([json.status, await json.json()]).toEqual([403, expect.objectContaining({ status: 403 })]);
    await expectNoCode(attacker, resume);
  });

  it('With lock (b) alone, the victim completes the request and the attacker who resumes it is not signed in', async () => {
    const [attacker, victim] = [foyer.browser(), await foyer.signedIn(await foyer.addUser())];
    const { id, link, resume } = await begunBy(attacker);
    await plantRequest(foyer, victim, id);
    const stored = await store(victim, new URL(`/verify-user${new URL(link).search}`, foyer.url).href);
    expect(new URL(stored).pathname).toBe(resume);
    await expectNoCode(attacker, resume);
  });

  it('With lock (b) alone, an attacker who is signed in gets neither the victim’s code nor an own one', async () => {
    const [mallory, user] = [await foyer.addUser(), await foyer.addUser()];
    const [attacker, victim] = [await foyer.signedIn(mallory), await foyer.signedIn(user)];
    const link = locationOf(await attacker.get((await app.begin({ prompt: 'login' })).url));
    const id = new URL(link).searchParams.get('authorization_code') ?? '';
    await plantRequest(foyer, victim, id);
    await store(victim, new URL(`/verify-user${new URL(link).search}`, foyer.url).href);
    const answer = await attacker.get(`/oauth2/authorize/${id}`);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();
    // The attacker is still signed in as the attacker.
    const silent = locationOf(await attacker.get((await app.begin({ prompt: 'none' })).url));
    expect(new URL(silent).searchParams.has('code')).toBe(true);
  });

  it('A request that is resumed in a browser that never began it is refused', async () => {
    const [attacker, victim] = [foyer.browser(), await foyer.signedIn(await foyer.addUser())];
    const { resume } = await begunBy(attacker);
    const answer = await victim.get(resume, { from: 'cross-site' });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('<h1');
  });

  it('A browser’s cookie of its own other request does not open the attacker’s request', async () => {
    const victim = await foyer.signedIn(await foyer.addUser());
    const [attacker, own] = [foyer.browser(), await app.begin({ prompt: 'login' })];
    const mine = new URL(locationOf(await victim.get(own.url))).searchParams.get('authorization_code') ?? '';
    const { id } = await begunBy(attacker);
    const value = (await victim.cookies())[requestCookie(mine)];
    await victim.jar.setCookie(`${requestCookie(id)}=${value}; Path=/`, foyer.url);
    expect((await victim.postJson('/storage', { authorization_code: id })).status).toBe(403);
  });
});
