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

  it('guessing codes of many strangers’ addresses: the network has a limit of wrong guesses, and others still confirm', async () => {
    const email = newAddress();
    const [mallory, ida] = [at('192.0.2.1'), at('192.0.2.2')];
    expect((await ida.post('/signup', profile(email))).status).toBe(303);
    const code = await codeFor(foyer, email);
    let looked = 0;
    for (let account = 0; account < 4; account += 1) {
      const theirs = newAddress();
      expect((await mallory.post('/signup', profile(theirs))).status).toBe(303);
      const flow = await flowOf(mallory);
      // Another code has five more guesses.
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

  it('a mailbox with many addresses: however codes are asked for again, the network has a limit of them', async () => {
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
      // Each sign-in has a flow of its own, without a wait.
      const signedIn = await at(ip).post('/sign-in', { username: address, password: newPassword });
      expect(signedIn.status).toBe(303);
    }
    expect(again.filter((status) => status === 429).length).toBeGreaterThan(0);
    const mails = await Promise.all(addresses.map((address) => foyer.mails(address)));
    expect(mails.flat()).toHaveLength(4 + 4);
  });
});
