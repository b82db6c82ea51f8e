import type { Cookie } from 'tough-cookie';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toSealedText } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { type Answer, portOf, Visitor } from './wire.ts';

const minuteMs = 60_000;
const wrong = 'Incorrect email, phone number or password.';
const cookieName = /^__Host-foyer_form_/;

/** Post/Redirect/Get: a cookie carries the refusal to the page of the form. */
describe.each(backends)('refused forms on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { ...production, PREVENT_USER_EXISTENCE_ERRORS: 'false' });
  });
  afterAll(() => foyer?.close());

  let visitors = 0;
  const visitor = (headers: Record<string, string> = {}) => {
    visitors += 1;
    return new Visitor(portOf(foyer.url), site, {
      'x-forwarded-proto': 'https',
      'x-forwarded-for': `192.0.2.${visitors}`,
      ...headers,
    });
  };
  const records = async ({ jar }: Visitor): Promise<Cookie[]> =>
    (await jar.getCookies(site)).filter(({ key }) => cookieName.test(key));
  const guess = async (who: Visitor, search = '') => {
    const { email } = await foyer.addUser();
    return { email, answer: await who.submit(`/sign-in${search}`, { username: email, password: 'a wrong guess' }) };
  };
  const says = ({ status, text }: Answer) => ({ status, says: text.includes(wrong) });
  const silent = { status: 200, says: false };

  it('The answer to a refused form is a redirect to the page, which gives the reason once', async () => {
    const who = visitor();
    const { email, answer } = await guess(who, '?redirect=%2Fsettings&foreign=1');
    expect([answer.status, answer.headers.location]).toEqual([303, '/?redirect=%2Fsettings']);
    const [line = ''] = answer.setCookies.filter((one) => cookieName.test(one));
    expect(line).toMatch(/; Max-Age=120; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/);
    expect(line).not.toContain('Domain');
    const shown = await who.get('/?redirect=%2Fsettings');
    expect(says(shown)).toEqual({ status: 400, says: true });
    expect(shown.text).toContain(`value="${email}"`);
    expect(shown.text).not.toContain('a wrong guess');
    expect(await records(who)).toEqual([]);
    expect(says(await who.get('/?redirect=%2Fsettings'))).toEqual(silent);
  });

  it('The record of a refused form cannot be read on the way and does not contain the password', async () => {
    const who = visitor();
    const { email } = await guess(who);
    const [record] = await records(who);
    const bytes = Buffer.from((record?.value ?? '').split('.')[1] ?? '', 'base64url').toString('latin1');
    for (const secret of [email, 'a wrong guess', wrong]) {
      expect(record?.value).not.toContain(secret);
      expect(bytes).not.toContain(secret);
    }
    // Only the username is sealed, and the server's own secret box opens it.
    const opened = foyer.deps.boxes.forms.open(toSealedText(record?.value ?? ''), JSON.stringify(['form', '/', '']));
    expect(opened).toContain(email);
    expect(opened).not.toContain('a wrong guess');
  });

  it('GET and HEAD of /sign-in redirect to the form with the query, and HEAD consumes no notice', async () => {
    const who = visitor();
    await guess(who, '?redirect=%2Fdashboard');
    for (const method of ['GET', 'HEAD']) {
      const answer = await who.send('/sign-in?redirect=%2Fdashboard&x=%2F', { method });
      expect([answer.status, answer.headers.location]).toEqual([303, '/?redirect=%2Fdashboard&x=%2F']);
      expect((await who.send('/sign-in', { method })).headers.location).toBe('/');
    }
    expect((await who.send('/?redirect=%2Fdashboard', { method: 'HEAD' })).status).toBe(200);
    expect(says(await who.get('/?redirect=%2Fdashboard'))).toEqual({ status: 400, says: true });
    expect((await who.send('/sign-in', { method: 'PUT', headers: { origin: site } })).headers.allow).toBe(
      'GET, HEAD, POST',
    );
  });

  it('Reloading the page of a refused sign-in is not a guess', async () => {
    const user = await foyer.addUser();
    const limit = foyer.deps.config.GUESS_LIMIT_ACCOUNT;
    const who = visitor();
    for (let guesses = 1; guesses < limit; guesses += 1) {
      await who.post('/sign-in', { username: user.email, password: 'a wrong guess' });
      for (let reloads = 0; reloads < 3; reloads += 1) expect((await who.get('/')).status).toBe(200);
      expect((await who.get('/sign-in')).status).toBe(303);
    }
    expect((await who.post('/sign-in', { username: user.email, password })).headers.location).not.toBe('/');
    expect((await who.get('/settings')).status).toBe(200);
  });

  it('Each of two tabs shows its own refusal', async () => {
    const who = visitor();
    await guess(who, '?redirect=%2Fsettings');
    await who.submit('/forgot-password', { username: 'unknown-user@example.com' });
    expect(says(await who.get('/?redirect=%2Fsettings'))).toEqual({ status: 400, says: true });
    expect((await who.get('/forgot-password')).text).toContain('value="unknown-user@example.com"');
  });

  it('A planted record shows nothing on another page, at another address of the page or in another session', async () => {
    const attacker = visitor();
    await attacker.submit('/forgot-password', { username: 'call-this-number@example.com' });
    const [record] = await records(attacker);
    const keyOf = async (address: string) => {
      const other = visitor();
      await other.submit(address, { username: '' });
      return (await records(other))[0]?.key ?? '';
    };
    const showsIt = async (into: Visitor, address: string, key: string) => {
      await into.jar.setCookie(`${key}=${record?.value}; Path=/; Secure; HttpOnly`, site);
      const { status, text } = await into.get(address);
      return { status, shows: text.includes('call-this-number') };
    };
    const nothing = { status: 200, shows: false };
    const address = '/forgot-password?redirect=%2Fsettings';
    expect(await showsIt(visitor(), '/signup', await keyOf('/signup'))).toEqual(nothing);
    expect(await showsIt(visitor(), address, await keyOf(address))).toEqual(nothing);

    const member = visitor();
    const user = await foyer.addUser();
    await member.post('/sign-in', { username: user.email, password });
    expect(await showsIt(member, '/forgot-password', record?.key ?? '')).toEqual(nothing);
    // The record itself is valid: its own page accepts it in a browser without a session.
    expect(await showsIt(visitor(), '/forgot-password', record?.key ?? '')).toEqual({ status: 400, shows: true });
  });

  it('A planted record that was changed causes no error, shows nothing and is deleted', async () => {
    const who = visitor();
    await guess(who);
    const [record] = await records(who);
    for (const value of ['', 'x', 'x.y', `${record?.value}AAAA`, `${record?.value.slice(0, -8)}AAAAAAAA`, '%00', '"']) {
      await who.jar.setCookie(`${record?.key}=${value}; Path=/; Secure; HttpOnly`, site);
      expect(says(await who.get('/'))).toEqual(silent);
    }
    expect(await records(who)).toEqual([]);
  });

  it('A record that is older than two minutes shows nothing, although the browser still sends it', async () => {
    const who = visitor();
    await guess(who);
    const [record] = await records(who);
    foyer.passTime(2 * minuteMs);
    await who.jar.setCookie(`${record?.key}=${record?.value}; Path=/; Secure; HttpOnly`, site);
    expect(says(await who.get('/'))).toEqual(silent);
  });

  it('Many refused forms with long values leave two records below 4 KiB each, and every page still answers', async () => {
    const who = visitor();
    for (let n = 0; n < 12; n += 1) {
      const long = { given_name: 'ö'.repeat(700), family_name: '😀'.repeat(300), email: `${'x'.repeat(3_000)}@y` };
      const answer = await who.submit(`/signup?state=${n}`, { ...long, password: 'short', terms: '1' });
      expect([answer.status, answer.headers.location]).toEqual([303, `/signup?state=${n}`]);
      const kept = await records(who);
      expect(kept.length).toBeLessThanOrEqual(2);
      for (const { key, value } of kept) expect(key.length + value.length).toBeLessThan(3_800);
    }
    const shown = await who.get('/signup?state=11');
    expect(shown.status).toBe(400);
    expect(shown.text).toContain(`value="${'ö'.repeat(100)}`);
  });

  it('The page of a rate-limited form answers 429 with Retry-After, and the redirect has no Retry-After', async () => {
    const user = await foyer.addUser();
    const who = visitor();
    const send = () => who.submit('/sign-in', { username: user.email, password: 'a wrong guess' });
    for (let n = 0; n < foyer.deps.config.GUESS_LIMIT_ACCOUNT; n += 1) await send();
    const refused = await send();
    expect([refused.status, refused.headers['retry-after']]).toEqual([303, undefined]);
    const shown = await who.get('/');
    expect([shown.status, Number(shown.headers['retry-after']) > 0]).toEqual([429, true]);
    expect(shown.text).toContain('Too many attempts');
    expect((await who.get('/')).headers['retry-after']).toBeUndefined();
  });

  it('A program that asks for JSON gets the status of the refusal itself', async () => {
    const who = visitor({ accept: 'application/json' });
    const { answer } = await guess(who);
    expect([answer.status, answer.setCookies.some((line) => cookieName.test(line))]).toEqual([400, false]);
  });
});
