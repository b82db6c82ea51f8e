import type { RequestListener, Server } from 'node:http';
import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { type SecondProcess, secondProcess } from '../attacks/second-process.ts';
import { codeFor, newAddress, profile } from '../sign-up/steps.ts';
import { Browser, locationOf } from '../support/browser.ts';
import { answerCode, device, finishCode } from '../support/devices.ts';
import { listenOnFreePort, password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { homeFrom, relyingParty, signInFor, store, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

/** One address at which two processes answer in turn. */
describe.each(backends)('flows that start in one process and end in another, on $name', (backend) => {
  let front: Server;
  let foyer: TestFoyer;
  let second: SecondProcess;
  let user: User;
  let url: string;
  let running: RequestListener[];
  beforeAll(async () => {
    const { server, port } = await listenOnFreePort((req, res) => {
      running.push(running.shift() as RequestListener);
      running.at(-1)?.(req, res);
    });
    front = server;
    url = `http://localhost:${port}`;
    const alone = await startFoyer(backend, { PUBLIC_URL: url });
    foyer = { ...alone, url, browser: () => new Browser(url) };
    second = await secondProcess(foyer);
    user = await foyer.addUser();
  });
  beforeEach(() => {
    running = [foyer.app.app, second.app];
  });
  afterAll(async () => {
    front?.closeAllConnections();
    front?.close();
    await second?.close();
    await foyer?.close();
  });

  it('A sign-in with consent, a userinfo call and a switch of account work when each request meets another process', async () => {
    const client = await relyingParty(foyer, await foyer.addClient({ thirdParty: true }), 'openid email');
    const [browser, other] = [foyer.browser(), await foyer.addUser()];
    const tokens = await tokensFor(client, browser, user);
    expect((await oidc.fetchUserInfo(client.config, tokens.access_token, user.id)).email).toBe(user.email);
    const begun = await client.begin();
    const { search } = new URL(begun.url);
    const authorize = locationOf(await browser.get(`/logout${search}`, { from: 'same-origin' }));
    const again = await client.redeem(await signInFor(browser, { url: authorize }, other), begun);
    expect(again.claims()?.sub).toBe(other.id);
    await expect(oidc.fetchUserInfo(client.config, tokens.access_token, user.id)).rejects.toThrow();
  });

  it('A pushed request gives tokens that are bound to a key when each request meets another process', async () => {
    const client = await relyingParty(foyer, await foyer.addClient({ requirePushedRequests: true, dpopBound: true }));
    const DPoP = oidc.getDPoPHandle(client.config, await oidc.randomDPoPKeyPair('ES256'));
    const begun = await client.begin();
    const { href } = await oidc.buildAuthorizationUrlWithPAR(client.config, new URL(begun.url).searchParams, { DPoP });
    const callback = new URL(await signInFor(foyer.browser(), { url: href }, user));
    const checks = { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce };
    const tokens = await oidc.authorizationCodeGrant(client.config, callback, checks, undefined, { DPoP });
    expect((await oidc.fetchUserInfo(client.config, tokens.access_token, user.id, { DPoP })).sub).toBe(user.id);
  });

  it('A device sign-in gives tokens when each request meets another process', async () => {
    const radio = await device(foyer);
    const asked = await radio.ask();
    const browser = foyer.browser();
    await finishCode(browser, await answerCode(browser, asked.user_code), user);
    const tokens = await oidc.pollDeviceAuthorizationGrant(radio.config, { ...asked, interval: 0.01 });
    expect(tokens.claims()?.sub).toBe(user.id);
  });

  it('When one process stops, every request that waits at one of its pages ends at the client through the other process', async () => {
    const client = await relyingParty(foyer, await foyer.addClient());
    const theirs = await relyingParty(foyer, await foyer.addClient({ thirdParty: true }), 'openid');
    running = [foyer.app.app];
    /** One browser for each step of the sign-in. */
    async function stand(app = client) {
      const [browser, begun] = [foyer.browser(), await app.begin()];
      const landing = locationOf(await browser.get(begun.url, { from: 'cross-site' }));
      const signIn = async () =>
        locationOf(await browser.post(`/sign-in${new URL(landing).search}`, { username: user.email, password }));
      return { app, browser, begun, landing, signIn, member: { email: user.email ?? '' } };
    }
    const form = await stand();
    const verify = await stand();
    const consent = await stand(theirs);
    const resume = await stand();
    const redeem = await stand();
    const signUp = { ...(await stand()), member: { email: newAddress() } };
    const { search } = new URL(signUp.landing);
    await signUp.browser.post(`/signup${search}`, profile(signUp.member.email));
    const stopped = [
      { ...form, at: form.landing },
      { ...verify, at: await verify.signIn() },
      { ...consent, at: await store(consent.browser, await consent.signIn()) },
      { ...resume, at: await store(resume.browser, await resume.signIn()) },
      { ...redeem, at: await homeFrom(redeem.browser, redeem.landing, user) },
    ];

    running = [second.app];
    const code = await codeFor(foyer, signUp.member.email);
    await signUp.browser.post(`/signup/emailCaptured${search}`, { code });
    for (const { app, browser, begun, member, at } of [...stopped, { ...signUp, at: `${url}/verify-user${search}` }]) {
      const tokens = await app.redeem(await homeFrom(browser, at, member), begun);
      const { email } = await oidc.fetchUserInfo(app.config, tokens.access_token, tokens.claims()?.sub ?? '');
      expect([at, email]).toEqual([at, app === client ? member.email : undefined]);
    }
  });
});
