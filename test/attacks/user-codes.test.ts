import { hiddenField } from '../support/devices.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { portOf, Visitor } from './wire.ts';

const limits = { GUESS_LIMIT_ADDRESS: '6', GUESS_LIMIT_OVERALL: '15', GUESS_LIMIT_DEVICE: '4' };

/** RFC 8628, section 5.1: a user code is short, so guesses must be limited. */
describe.each(backends)('guessing user codes on $name', (backend) => {
  let foyer: TestFoyer;
  beforeEach(async () => {
    foyer = await startFoyer(backend, { ...production, ...limits });
  });
  afterEach(() => foyer?.close());

  const at = (ip: string) => new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip });
  /** Sends the page's own xsrf field, so that only the code is wrong. */
  async function guess(visitor: Visitor, user_code: string) {
    const xsrf = hiddenField((await visitor.send('/oauth2/device')).text, 'xsrf');
    return visitor.post('/oauth2/device', { xsrf, user_code });
  }
  const wrong = (n: number) => `BCDF-${'GHJKLMNPQRSTVWXZ'.charAt(n % 16)}${'GHJKLMNPQRSTVWXZ'.charAt(n >> 4)}BB`;
  const ask = async () => {
    const registered = await foyer.addClient({ device: true, public: true, redirectUris: [], name: 'Harbour Radio' });
    const answer = await new Visitor(portOf(foyer.url), site).send('/oauth2/device_authorization', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-proto': 'https' },
      body: new URLSearchParams({ client_id: registered.id, scope: 'openid' }).toString(),
    });
    return JSON.parse(answer.text) as { user_code: string };
  };

  it('Of guesses from one address a few are checked, and afterwards not even the right code is', async () => {
    const { user_code: right } = await ask();
    // Each guess comes from a new browser, because an attacker can drop cookies.
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => guess(at('203.0.113.7'), wrong(n))));
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(6);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(14);
    const refused = await guess(at('203.0.113.7'), right);
    expect([refused.status, refused.text.includes('Harbour Radio')]).toEqual([429, false]);
    // The user can continue at another address.
    expect((await guess(at('203.0.113.8'), right)).status).toBe(200);
  });

  it('Guesses from many addresses are slowed down overall, and others still connect a device', async () => {
    const { user_code: right } = await ask();
    const answers = await Promise.all(Array.from({ length: 24 }, (_, n) => guess(at(`198.51.100.${n % 8}`), wrong(n))));
    // The network of these addresses has three times the limit of one address; beyond the overall limit it waits.
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(18);
    const visitor = await guess(at('203.0.113.9'), right);
    expect([visitor.status, visitor.text.includes('Harbour Radio')]).toEqual([200, true]);
    const [user, home] = [await foyer.addUser(), at('203.0.113.10')];
    expect((await home.post('/sign-in', { username: user.email, password })).status).toBe(303);
    const typed = await guess(home, right);
    expect([typed.status, typed.text.includes('Harbour Radio')]).toEqual([200, true]);
  });

  it('A user has only a few guesses, from whatever address', async () => {
    const [user, member] = [await foyer.addUser(), at('203.0.113.11')];
    await member.post('/sign-in', { username: user.email, password });
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const moved = new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': `192.0.2.${n}` }, member.jar);
      statuses.push((await guess(moved, wrong(n))).status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 429, 429]);
  });

  it('A code in a link, given once or twice, is not submitted for the user who follows it', async () => {
    const { user_code: code } = await ask();
    for (const search of [`user_code=${code}`, `user_code=${code}&user_code=`, `user_code=&user_code=${code}`]) {
      const page = await at('203.0.113.13').send(`/oauth2/device?${search}`);
      expect([search, page.status, hiddenField(page.text, 'xsrf') !== '']).toEqual([search, 200, true]);
      expect(page.text).not.toContain('Harbour Radio');
      expect(page.text).not.toContain('forms[0].submit');
    }
  });

  it('Right codes and slips of the form do not count as guesses', async () => {
    const { user_code: right } = await ask();
    const home = at('203.0.113.12');
    for (let n = 0; n < 10; n += 1) expect((await guess(home, right)).status).toBe(200);
    for (let n = 0; n < 10; n += 1) expect((await guess(home, '')).status).toBe(400);
    expect((await guess(home, right)).status).toBe(200);
  });
});
