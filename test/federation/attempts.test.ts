import type { Response as ExpressResponse, Request } from 'express';
import { attemptMs, createFederationAttempts } from '../../server/federation/attempts.ts';
import type { HostCookies } from '../../server/http/index.ts';
import { sha256 } from '../../server/shared/index.ts';
import { type Browser, locationOf, noticeOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import { toProviderId } from '../support/ids.ts';
import { codeFlowKinds } from '../support/provider-kinds.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { homeFrom, refreshOf, relyingParty, store } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend, backends } from '../support/stores.ts';
import { answerOf, comeBy, pathOf, pressButton, somebody } from './steps.ts';

describe.each(backends)('attempts on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  startWithProviders(
    backend,
    (started) => ({ ...started.environment(), GUESS_LIMIT_ADDRESS: '100000' }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );
  const come = (browser: Browser, answer: string) => browser.get(answer, { from: 'cross-site' });
  const notice = (answer: Response) => noticeOf(locationOf(answer));

  /** A user of Google who has accepted the terms. */
  async function memberByGoogle() {
    const who = somebody(providers, 'google');
    const browser = foyer.browser();
    const terms = locationOf(await comeBy(providers, browser, 'google', who));
    const { pathname, search } = new URL(terms);
    await browser.post(`${pathname}${search}`, {
      decision: 'accept',
      version: String(foyer.deps.terms.number),
    });
    return who;
  }

  it('Several tabs with providers and pages of their own each end at the page of their tab', async () => {
    const [ada, vera] = [await memberByGoogle(), somebody(providers, 'oidc')];
    const browser = foyer.browser();
    const app = await relyingParty(foyer, await foyer.addClient());
    const begun = await app.begin();
    const search = new URL(locationOf(await browser.get(begun.url))).search;
    const forApp = await pressButton(browser, 'google', { search });
    const forSettings = await pressButton(browser, 'google', { search: '?redirect=/settings/providers' });
    const byAnother = await pressButton(browser, 'oidc', { search: '?redirect=/settings/name' });
    // The second attempt is answered first.
    const third = await come(browser, await answerOf(providers, 'oidc', vera, byAnother));
    expect(pathOf(foyer, third)).toMatch(/^\/tos\?.*settings%2Fname/);
    const second = await come(browser, await answerOf(providers, 'google', ada, forSettings));
    expect(pathOf(foyer, second)).toBe('/settings/providers');
    const first = await come(browser, await answerOf(providers, 'google', ada, forApp));
    expect(pathOf(foyer, first)).toMatch(/^\/verify-user/);
    const resumed = await browser.get(await store(browser, locationOf(first)));
    const redeemed = await app.redeem(locationOf(resumed), begun);
    expect(redeemed.claims()).toMatchObject({ amr: ['fed'] });
  });

  it.each([
    ['in time', 5],
    ['too late for the attempt', 20],
  ])(
    'A sign-in by a provider whose client request expired, answered %s, still gives a code at the client',
    async (_when, minutes) => {
      const ada = await memberByGoogle();
      const browser = foyer.browser();
      const app = await relyingParty(foyer, await foyer.addClient());
      const begun = await app.begin();
      const search = new URL(locationOf(await browser.get(begun.url))).search;
      foyer.passTime(58 * 60_000);
      const pressed = await pressButton(browser, 'google', { search });
      foyer.passTime(minutes * 60_000);
      let at = locationOf(await come(browser, await answerOf(providers, 'google', ada, pressed)));
      if (minutes * 60_000 > attemptMs) {
        // The sign-in page starts the request again.
        expect(new URL(at).pathname).toBe('/');
        const again = refreshOf(await (await browser.get(locationOf(await browser.get(at)))).text());
        const { search: anew } = new URL(locationOf(await browser.get(again)));
        at = locationOf(await comeBy(providers, browser, 'google', ada, { search: anew }));
      }
      expect(new URL(at).pathname).toBe('/verify-user');
      const callback = await homeFrom(browser, at, { email: 'nobody types it' });
      expect((await app.redeem(callback, begun)).claims()).toMatchObject({ amr: ['fed'] });
    },
  );

  it('A second attempt in the same tab leaves the first one valid', async () => {
    const [ada, browser] = [await memberByGoogle(), foyer.browser()];
    const before = await pressButton(browser, 'google');
    const after = await pressButton(browser, 'google');
    expect(notice(await come(browser, await answerOf(providers, 'google', ada, after)))).toBeNull();
    expect(notice(await come(browser, await answerOf(providers, 'google', ada, before)))).toBeNull();
  });

  it('The cookie of attempts is HttpOnly, SameSite=Lax, limited to this host, stable, and replaced if it was planted', async () => {
    const browser = foyer.browser();
    const answer = await browser.post('/federation/google');
    const cookie = answer.headers.getSetCookie().find((line) => line.includes('foyer_federation='));
    expect(cookie).toMatch(/; Path=\/(;|$)/);
    expect(cookie).toMatch(/; HttpOnly(;|$)/);
    expect(cookie).toMatch(/; SameSite=Lax(;|$)/);
    expect(cookie).not.toMatch(/Domain=/i);
    const { foyer_federation: first } = await browser.cookies();
    await pressButton(browser, 'amazon');
    expect((await browser.cookies()).foyer_federation).toBe(first);
    // Foyer replaces a planted cookie, because an attacker would know its value.
    await browser.jar.setCookie('foyer_federation=planted', foyer.url);
    await pressButton(browser, 'google');
    expect((await browser.cookies()).foyer_federation).toMatch(/^[\w-]{43}$/);
  });

  it('Attack: an answer in another browser, or in one without the cookie, is refused as foreign', async () => {
    const ada = await memberByGoogle();
    const owner = foyer.browser();
    const answer = await answerOf(providers, 'google', ada, await pressButton(owner, 'google'));
    const other = foyer.browser();
    await pressButton(other, 'google');
    for (const browser of [other, foyer.browser()])
      expect(notice(await come(browser, answer))).toBe('federation:foreign');
    owner.jar.removeAllCookiesSync();
    expect(notice(await come(owner, answer))).toBe('federation:foreign');
  });

  it('An attempt is valid for exactly fifteen minutes and is encrypted under its own id', async () => {
    let [clock, jar] = [1_000_000, ''];
    const cookies = {
      read: () => jar,
      set: (_res: unknown, _name: string, { value }: { value: string }) => {
        jar = value;
      },
    } as unknown as HostCookies;
    const { kv } = foyer.stores;
    const attempts = createFederationAttempts({ kv, box: foyer.deps.boxes.federation, cookies, now: () => clock });
    const google = toProviderId('google');
    const begin = async () => {
      const attempt = {
        provider: google,
        intent: { kind: 'sign-in' as const },
        continuation: '?a=b',
        remember: true,
      };
      const id = attempts.newId();
      await attempts.begin({ req, res }, { ...attempt, id, strategyState: { verifier: 'v' } });
      return id;
    };
    const [req, res] = [{} as Request, {} as ExpressResponse];
    const [early, late] = [await begin(), await begin()];
    clock += attemptMs;
    expect(await attempts.take(req, early, google)).toMatchObject({
      kind: 'started',
      attempt: { strategyState: { verifier: 'v' } },
    });
    clock += 1;
    expect(await attempts.take(req, late, google)).toMatchObject({
      kind: 'expired',
      attempt: { continuation: '?a=b' },
    });
    const wrong = await begin();
    expect(await attempts.take(req, wrong, toProviderId('amazon'))).toEqual({ kind: 'unknown' });
    expect(await attempts.find(req, wrong, google)).toMatchObject({ kind: 'started' });
    // A record that was copied over another record cannot be opened.
    const keyOf = (id: string) => `federation-attempt:${sha256(id)}`;
    const id = attempts.newId();
    await kv.set(keyOf(id), (await kv.get(keyOf(wrong))) ?? '', attemptMs);
    await expect(attempts.take(req, id, google)).rejects.toThrow();
  });

  it('Of many concurrent answers to one attempt exactly one is accepted', async () => {
    const [ada, browser] = [await memberByGoogle(), foyer.browser()];
    const answer = await answerOf(providers, 'google', ada, await pressButton(browser, 'google'));
    const ends = await Promise.all(Array.from({ length: 8 }, async () => notice(await come(browser, answer))));
    expect(ends.filter((end) => end === null)).toHaveLength(1);
    expect(ends.filter((end) => end === 'federation:over')).toHaveLength(7);
  });

  it.each(codeFlowKinds)('A cancelled sign-in at %s keeps the return address and the language', async (kind) => {
    const browser = foyer.browser();
    const search = '?redirect=/settings/providers&lang=fr';
    const address = await pressButton(browser, kind, { search });
    providers.answerAs('refuse', kind);
    const back = locationOf(await come(browser, locationOf(await sendRequest(address, { redirect: 'manual' }))));
    expect([new URL(back).searchParams.get('redirect'), noticeOf(back)]).toEqual([
      '/settings/providers',
      'federation:cancelled',
    ]);
    expect(await (await browser.get(back)).text()).toContain('lang="fr"');
  });
});

describe('an unreachable provider', () => {
  it('An unreachable provider prevents neither the start of Foyer nor other sign-ins', async () => {
    const providers = await startProviders();
    const environment = providers.environment((file) => ({
      providers: file.providers.slice(0, 1).map((acme) => ({ ...acme, issuer: 'http://127.0.0.1:9/away' })),
    }));
    const backend = anyBackend;
    const foyer = await startFoyer(backend, environment);
    try {
      const answer = await foyer.browser().post('/federation/acme-oidc?redirect=/settings');
      expect(pathOf(foyer, answer)).toBe('/?redirect=%2Fsettings#federation:unreachable/acme-oidc');
      expect(notice(await comeBy(providers, foyer.browser(), 'google', somebody(providers, 'google')))).toBeNull();
      await foyer.signedIn(await foyer.addUser());
    } finally {
      await foyer.close();
      await providers.close();
    }
    function notice(answer: Response) {
      return noticeOf(locationOf(answer));
    }
  });
});
