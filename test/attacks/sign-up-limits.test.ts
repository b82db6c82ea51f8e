import { plainHasher } from '../sign-up/plain-hasher.ts';
import { codeFor, forgetWait, newAddress, newPassword, profile } from '../sign-up/steps.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { portOf, Visitor } from './wire.ts';

const codeStep = '/signup/emailCaptured';
const cookieName = '__Host-foyer_sign_up';

describe.each(backends)('many accounts from one network, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { ...production, SIGN_UP_LIMIT_ADDRESS: '4' });
  });
  afterAll(() => foyer?.close());
  const at = (ip: string) => new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip });
  const flowOf = async (visitor: Visitor) =>
    (await visitor.jar.getCookies(site)).find(({ key }) => key === cookieName)?.value ?? '';
  const call = (visitor: Visitor, path: string, body: object) =>
    visitor.send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
    });

  it('A network that guesses codes of many addresses reaches its limit, and others still confirm', async () => {
    const email = newAddress();
    const [mallory, ida] = [at('192.0.2.1'), at('192.0.2.2')];
    expect((await ida.post('/signup', profile(email))).status).toBe(303);
    const code = await codeFor(foyer, email);
    let looked = 0;
    for (let account = 0; account < 4; account += 1) {
      const theirs = newAddress();
      expect((await mallory.post('/signup', profile(theirs))).status).toBe(303);
      const flow = await flowOf(mallory);
      // Another code has five new guesses.
      for (let round = 0; round < 2; round += 1) {
        for (let n = 0; n < 5; n += 1) {
          const { status, headers } = await mallory.post(codeStep, { code: '12345x'.replace('x', String(n)) });
          if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
          else looked += 1;
        }
        await forgetWait(foyer, flow);
        await mallory.post(codeStep, { act: 'resend' });
      }
    }
    expect(looked).toBe(4 * 5);
    const json = await call(mallory, '/identity/confirmSignUp', { flow: await flowOf(mallory), code: '123456' });
    expect([json.status, Number(json.headers['retry-after']) > 0]).toEqual([429, true]);
    const refused = await mallory.post(codeStep, { code: '123456' });
    expect(refused.text).toContain('Too many attempts');
    expect((await ida.post(codeStep, { code })).status).toBe(303);
  });

  it('A network has a limit of codes for many addresses of one mailbox, however they are requested', async () => {
    const ip = '198.51.100.7';
    const owner = newAddress().split('@')[0];
    const addresses = [1, 2, 3, 4].map((n) => `${owner}+${n}@example.com`);
    const again: number[] = [];
    for (const address of addresses) {
      const visitor = at(ip);
      expect((await visitor.post('/signup', profile(address))).status).toBe(303);
      const flow = await flowOf(visitor);
      await forgetWait(foyer, flow);
      again.push((await visitor.post(codeStep, { act: 'resend' })).status);
      await forgetWait(foyer, flow);
      again.push((await call(visitor, '/identity/resendConfirmationCode', { flow })).status);
      // Each sign-in has its own flow without a waiting time.
      const signedIn = await at(ip).post('/sign-in', { username: address, password: newPassword });
      expect(signedIn.status).toBe(303);
    }
    expect(again.filter((status) => status === 429).length).toBeGreaterThan(0);
    const mails = await Promise.all(addresses.map((address) => foyer.mails(address)));
    expect(mails.flat()).toHaveLength(4 + 4);
  });
});

describe.each(backends)('mass sign-ups on $name', (backend) => {
  let foyer: TestFoyer;
  const hasher = plainHasher();
  beforeAll(async () => {
    foyer = await startFoyer(
      backend,
      { ...production, SIGN_UP_LIMIT_ADDRESS: '3', SIGN_UP_LIMIT_OVERALL: '9', PASSWORD_QUEUE_FULL_STATUS: '429' },
      { passwords: hasher },
    );
  });
  afterAll(() => foyer?.close());
  const at = (ip: string) => new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip });

  it('A full password queue gives the configured status and Retry-After, keeps the form and uses up no try', async () => {
    const visitor = at('192.0.2.200');
    const json = { email: 'ida.sommer@example.net', password: newPassword, given_name: 'Ida', family_name: 'Sommer' };
    hasher.full = true;
    try {
      for (let n = 0; n < 5; n += 1) {
        const answer = await visitor.post('/signup', profile('ida.sommer@example.net'));
        expect([answer.status, Number(answer.headers['retry-after']) > 0]).toEqual([429, true]);
        expect(answer.text).toContain('value="ida.sommer@example.net"');
        expect(answer.text).toContain('Error signing up user');
        expect(answer.text).not.toContain(newPassword);
      }
      const called = await visitor.send('/identity/signUp', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(json),
      });
      expect([called.status, Number(called.headers['retry-after']) > 0]).toEqual([429, true]);
      expect(called.text).toContain('urn:foyer:problem:tooMany');
    } finally {
      hasher.full = false;
    }
    expect((await visitor.post('/signup', profile('ida.sommer@example.net'))).status).toBe(303);
  });

  it('Sign-ups are limited per network address, before a password is hashed, and overall', async () => {
    const asked = (ip: string) => at(ip).post('/signup', profile(newAddress()));
    const near = await Promise.all(Array.from({ length: 10 }, () => asked('192.0.2.1')));
    expect(near.filter(({ status }) => status === 303)).toHaveLength(3);
    const [refused] = near.filter(({ status }) => status === 429);
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused?.text).toContain('Too many attempts');
    expect(refused?.text).toContain('value="Ida"');
    // The IPv6 network of one subscriber counts as one address; JSON calls count with the forms.
    for (let n = 0; n < 3; n += 1) await asked(`2001:db8:0:1::${n + 1}`);
    const { password: _, terms: _terms, ...json } = profile(newAddress());
    const call = await at('2001:db8:0:1::9').send('/identity/signUp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ ...json, password: newPassword }),
    });
    expect(call.status).toBe(429);
    expect(hasher.hashed).toBe(1 + 6);
    // Two places of the limit are left, and a network with few attempts may continue.
    for (const n of [1, 2, 3]) expect((await asked(`198.51.100.${n}`)).status).toBe(303);
    // All other networks together get two in ten seconds.
    const far = await Promise.all(Array.from({ length: 6 }, (_, n) => asked(`198.51.100.1${n}`)));
    expect(far.filter(({ status }) => status === 303)).toHaveLength(2);
    const waits = far.filter(({ status }) => status === 429).map(({ headers }) => Number(headers['retry-after']));
    expect(waits).toHaveLength(4);
    for (const seconds of waits) expect(seconds).toBeLessThanOrEqual(10);
  });

  it('A flow’s cookie carries the prefix, and one without it, as a sibling plants it, is ignored', async () => {
    const user = await foyer.addUser({ passwordHash: `plain:${newPassword}`, emailVerified: false });
    const visitor = at('203.0.113.5');
    expect((await visitor.post('/sign-in', { username: user.email, password: newPassword })).status).toBe(303);
    const [cookie] = (await visitor.jar.getCookies(site)).filter(({ key }) => key.includes('sign_up'));
    expect(cookie).toMatchObject({
      key: '__Host-foyer_sign_up',
      secure: true,
      httpOnly: true,
      sameSite: 'lax',
      path: '/',
    });
    expect((await visitor.get('/verify-code')).status).toBe(200);
    const planted = await at('203.0.113.6').get('/verify-code', { cookie: `foyer_sign_up=${cookie?.value}` });
    expect(planted.status).toBe(303);
  });
});
