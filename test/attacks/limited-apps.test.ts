import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { openShop, press, type Shop, wordsOf } from '../checkout/shop.ts';
import { withDefaultClient } from '../oidc/token-cookie-tools.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { answerCode, device, finishCode } from '../support/devices.ts';
import { password } from '../support/foyer.ts';
import { toClientId, toPlanId } from '../support/ids.ts';
import {
  type Begun,
  type RelyingParty,
  refreshOf,
  relyingParty,
  signInFor,
  store,
  tokensFor,
} from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';

let shop: Shop;
/** For the plans 12 and 13 (Growth, monthly and annual). */
let limited: RelyingParty;
const logback = 'http://127.0.0.1:9/academy/start';
beforeAll(async () => {
  shop = await openShop();
  const { foyer } = shop;
  const scopes = ['openid', 'email', 'account'];
  const academy = { id: 'academy', name: 'Academy', scopes, logbackUri: logback, responseTypes: ['code', 'id_token'] };
  limited = await relyingParty(
    foyer,
    await foyer.addClient({ ...academy, requiredPlans: ['12', '13'] }),
    scopes.join(' '),
  );
});
afterAll(() => shop?.close());

/** What membership/ writes when what a member has changes. */
const has = (user: User, planId: string | null, trialUntil: number | null = null) =>
  shop.foyer.deps.database.db
    .updateTable('users')
    .set({ plan_id: planId === null ? null : toPlanId(planId), trial_until: trialUntil })
    .where('id', '=', user.id)
    .execute();
const member = (planId: string | null) => shop.foyer.addUser({ planId: planId === null ? null : toPlanId(planId) });
const lead = async (browser: Browser, { url }: Pick<Begun, 'url'>) =>
  new URL(locationOf(await browser.get(url, { from: 'cross-site' })));
const on = async (browser: Browser, url: URL | string) => new URL(locationOf(await browser.get(String(url))));

/** Follows a request until a page answers. */
async function pageOf(browser: Browser, begun: Pick<Begun, 'url'>): Promise<{ at: URL; words: string; html: string }> {
  let at = await lead(browser, begun);
  for (let hops = 0; hops < 6; hops += 1) {
    expect(at.origin).toBe(shop.foyer.url);
    const answer = await browser.get(at.href);
    if (answer.status !== 303) {
      const html = await answer.text();
      return { at, html, words: wordsOf(html) };
    }
    at = new URL(locationOf(answer));
  }
  throw new Error(`no page: ${at}`);
}

describe('a client app that is limited to some plans', () => {
  it('A client app that is limited to some plans is open to members who have one of them', async () => {
    const tokens = await tokensFor(limited, shop.foyer.browser(), await member('12'));
    expect(tokens.access_token).toBeTruthy();
  });

  it('A member without the plan gets the page that says why, after the sign-in and from a live session', async () => {
    const [user, browser] = [await member('10'), shop.foyer.browser()];
    const begun = await limited.begin();
    const landing = await lead(browser, begun);
    const entered = await browser.post(`/sign-in${landing.search}`, { username: user.email, password });
    const verify = new URL(locationOf(entered));
    expect(verify.pathname).toBe('/verify-user');
    // Whether the page is opened or its script posts at once.
    expect((await on(browser, verify)).pathname).toBe('/not-in-plan');
    const shut = new URL(await store(browser, verify.href));
    expect(shut.pathname).toBe('/not-in-plan');
    const { at, words } = await pageOf(browser, await limited.begin());
    expect(at.pathname).toBe('/not-in-plan');
    expect(words).toContain('Academy is not in your plan');
    expect(words).toContain('You have the plan Starter, monthly, which does not include this app.');
    expect(words).toContain('Growth, monthly');
    expect(words).toContain('Growth, annual');
    expect(words).not.toContain('Scale');
  });

  it('A member without the plan gets no silent code, whatever the request says', async () => {
    const browser = await shop.foyer.signedIn(await member(null));
    const requests: Record<string, string>[] = [
      {},
      { response_type: 'id_token', response_mode: 'fragment' },
      { max_age: '3600' },
    ];
    for (const more of requests) {
      const back = await lead(browser, await limited.begin({ prompt: 'none', ...more }));
      const said = back.hash === '' ? back.searchParams : new URLSearchParams(back.hash.slice(1));
      expect(said.get('error')).toBe('interaction_required');
      expect(said.has('code') || said.has('id_token')).toBe(false);
    }
  });

  it('A member without the plan gets no code by the resume address, with or without an answer', async () => {
    const [user, browser] = [await member('12'), shop.foyer.browser()];
    const landing = await lead(browser, await limited.begin());
    const verify = locationOf(await browser.post(`/sign-in${landing.search}`, { username: user.email, password }));
    const resume = await store(browser, verify);
    expect(resume).toContain('/oauth2/authorize/');
    // The answer is there; the plan is not, any more.
    await has(user, null);
    expect((await on(browser, resume)).origin).toBe(shop.foyer.url);
    const other = await lead(browser, await limited.begin());
    const uid = other.searchParams.get('authorization_code');
    const bare = await browser.get(`/oauth2/authorize/${uid}`);
    expect(bare.headers.get('location') ?? '').not.toContain(limited.redirectUri);
  });

  it('A user who signs in instead of a member without the plan does not inherit that member’s consent', async () => {
    const client = await shop.foyer.addClient({ thirdParty: true, requiredPlans: ['12'] });
    const partner = await relyingParty(shop.foyer, client);
    const [first, second] = [await member('12'), await member('12')];
    const browser = await shop.foyer.signedIn(first);
    const asked = await lead(browser, await partner.begin());
    expect(asked.pathname).toBe('/consent');
    const id = asked.searchParams.get('authorization_code') ?? '';
    const allowed = await browser.post('/consent', { authorization_code: id, decision: 'allow' });
    // The plan is gone before the provider goes on, and somebody else signs in for what it asks then.
    await has(first, null);
    const again = await on(browser, refreshOf(await allowed.text()));
    expect(again.pathname).toBe('/');
    const entered = await browser.post(`/sign-in${again.search}`, { username: second.email, password });
    const resume = await store(browser, locationOf(entered));
    const next = await on(browser, resume);
    expect([next.origin, next.pathname]).toEqual([shop.foyer.url, '/consent']);
  });

  it('A third-party app learns nothing of a member’s plan by prompt=none before the member has let it in', async () => {
    const partner = await relyingParty(
      shop.foyer,
      await shop.foyer.addClient({ thirdParty: true, requiredPlans: ['12'] }),
    );
    const [inside, outside] = [await member('12'), await member('10')];
    const [visitor, other] = [await shop.foyer.signedIn(inside), await shop.foyer.signedIn(outside)];
    const said = async (browser: Browser) =>
      (await lead(browser, await partner.begin({ prompt: 'none' }))).searchParams.get('error');
    expect([await said(visitor), await said(other)]).toEqual(['consent_required', 'consent_required']);
    await tokensFor(partner, visitor, inside);
    await has(inside, null);
    expect(await said(visitor)).toBe('interaction_required');
  });

  it('A code from before a downgrade is refused', async () => {
    const [user, browser] = [await member('13'), shop.foyer.browser()];
    const begun = await limited.begin();
    const callback = await signInFor(browser, begun, user);
    await has(user, '10');
    await expect(limited.redeem(callback, begun)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('Tokens stop working after a downgrade and work again after an upgrade', async () => {
    const [user, browser] = [await member('12'), shop.foyer.browser()];
    const tokens = await tokensFor(limited, browser, user);
    const { access_token: access, refresh_token: refresh = '' } = tokens;
    const info = async () => (await oidc.fetchUserInfo(limited.config, access, user.id)).sub;
    const api = async () =>
      (await sendRequest(`${shop.foyer.url}/clients`, { headers: { authorization: `Bearer ${access}` } })).status;
    const active = async (token: string) => (await oidc.tokenIntrospection(limited.config, token)).active;
    expect([await info(), await api(), await active(access), await active(refresh)]).toEqual([
      user.id,
      200,
      true,
      true,
    ]);
    await has(user, '10');
    await expect(info()).rejects.toThrow();
    expect([await api(), await active(access), await active(refresh)]).toEqual([401, false, false]);
    await expect(oidc.refreshTokenGrant(limited.config, refresh)).rejects.toMatchObject({ error: 'invalid_grant' });
    const { searchParams: said } = await lead(browser, await limited.begin({ prompt: 'none' }));
    expect(said.get('error')).toBe('interaction_required');
    await has(user, '13');
    expect([await info(), await api(), await active(access)]).toEqual([user.id, 200, true]);
    expect((await oidc.refreshTokenGrant(limited.config, refresh)).access_token).toBeTruthy();
  });

  it('A trial that is over gives no access, although nothing was written to the database', async () => {
    const { foyer } = shop;
    const scopes = ['openid', 'email'];
    const app = await relyingParty(
      foyer,
      await foyer.addClient({ scopes, requiredEntitlements: ['messages'] }),
      'openid',
    );
    const [user, browser] = [await member(null), foyer.browser()];
    await has(user, null, shop.standIn.engine.nowMs() + 60_000);
    const { refresh_token: refresh = '' } = await tokensFor(app, browser, user);
    await shop.standIn.engine.advance(60_000);
    await expect(oidc.refreshTokenGrant(app.config, refresh)).rejects.toMatchObject({ error: 'invalid_grant' });
    expect((await lead(browser, await app.begin({ prompt: 'none' }))).searchParams.get('error')).toBe(
      'interaction_required',
    );
  });

  it('The site’s own client gives a member without the plan no token cookies and removes existing ones', async () => {
    const { foyer } = shop;
    await withDefaultClient(foyer);
    const user = await member('12');
    const browser = await foyer.signedIn(user);
    expect(Object.keys(await browser.cookies())).toContain('foyer_access_token');
    const row = await foyer.deps.database.db
      .selectFrom('clients')
      .select('metadata')
      .where('id', '=', toClientId('web'))
      .executeTakeFirstOrThrow();
    const metadata = JSON.stringify({ ...JSON.parse(row.metadata), required_plans: ['12'] });
    await foyer.deps.database.db.updateTable('clients').set({ metadata }).where('id', '=', toClientId('web')).execute();
    try {
      await has(user, '10');
      foyer.passTime(10 * 60_000);
      await browser.get('/tos');
      expect(Object.keys(await browser.cookies())).not.toContain('foyer_access_token');
      expect(Object.keys(await (await foyer.signedIn(user)).cookies())).not.toContain('foyer_access_token');
    } finally {
      await foyer.deps.database.db.deleteFrom('clients').where('id', '=', toClientId('web')).execute();
    }
  });

  it('Another user can sign in for the waiting request', async () => {
    const browser = await shop.foyer.signedIn(await member('10'));
    const begun = await limited.begin();
    const { html } = await pageOf(browser, begun);
    const href = /href="(\/\?[^"]*forceAuth[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect((await browser.get(href)).status).toBe(200);
    const other = await member('12');
    const { search } = new URL(href, shop.foyer.url);
    const verify = locationOf(await browser.post(`/sign-in${search}`, { username: other.email, password }));
    const back = await on(browser, await store(browser, verify));
    expect((await limited.redeem(back.href, begun)).claims()?.sub).toBe(other.id);
  });

  it('Another browser that opens the page of a waiting request learns nothing', async () => {
    const { at } = await pageOf(await shop.foyer.signedIn(await member('10')), await limited.begin());
    const stranger = await shop.foyer.signedIn(await member('10'));
    const page = await stranger.get(at.pathname + at.search);
    expect(page.status).toBe(403);
    expect(await page.text()).not.toMatch(/in your plan|plan-purchase/);
    const id = at.searchParams.get('authorization_code') ?? '';
    expect((await stranger.post('/not-in-plan', { authorization_code: id })).status).toBe(403);
  });
});

describe('other flows of a limited client app', () => {
  it('A device code confirmed without the plan waits until the member has the plan or goes back', async () => {
    const radio = await device(shop.foyer, { requiredPlans: ['12'] });
    const [asked, refused, bought] = [await radio.ask(), await radio.ask(), await radio.ask()];
    const user = await member('10');
    const browser = await shop.foyer.signedIn(user);
    const stopped = await pageOf(browser, { url: await answerCode(browser, asked.user_code) });
    expect(stopped.at.pathname).toBe('/not-in-plan');
    expect((await radio.poll(asked)).body.error).toBe('authorization_pending');
    // The address at which the library goes on has no answer to go on with.
    const id = stopped.at.searchParams.get('authorization_code') ?? '';
    await browser.get(`/oauth2/device/${id}`);
    expect((await radio.poll(asked)).body).not.toHaveProperty('access_token');
    const other = await pageOf(browser, { url: await answerCode(browser, refused.user_code) });
    const fields = { authorization_code: other.at.searchParams.get('authorization_code') ?? '' };
    const gone = refreshOf(await (await browser.post('/not-in-plan', fields)).text());
    expect((await on(browser, gone)).pathname).toBe('/device/refused');
    expect((await radio.poll(refused)).body.error).toBe('access_denied');
    const waiting = await pageOf(browser, { url: await answerCode(browser, bought.user_code) });
    await has(user, '12');
    expect(new URL(await finishCode(browser, waiting.at.href, user)).pathname).toBe('/device/done');
    expect((await radio.poll(bought)).body).toHaveProperty('access_token');
  });

  it('A device whose member loses the plan gets no tokens and cannot refresh those it has', async () => {
    const radio = await device(shop.foyer, { requiredPlans: ['12'] });
    const [early, late] = [await radio.ask(), await radio.ask()];
    const user = await member('12');
    const browser = await shop.foyer.signedIn(user);
    for (const { user_code: code } of [early, late]) {
      expect(new URL(await finishCode(browser, await answerCode(browser, code), user)).pathname).toBe('/device/done');
    }
    const tokens = (await radio.poll(early)).body;
    expect(tokens).toHaveProperty('refresh_token');
    await has(user, '10');
    expect((await radio.poll(late)).body.error).toBe('invalid_grant');
    const refreshed = oidc.refreshTokenGrant(radio.config, String(tokens.refresh_token));
    await expect(refreshed).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('The short forms give a member without the plan neither an ID token in the query nor a code', async () => {
    const redirectUri = 'http://127.0.0.1:9/old/';
    const registration = { redirectUris: [redirectUri], legacyIdTokenRedirect: true, requiredPlans: ['12'] };
    const { id } = await shop.foyer.addClient(registration);
    const user = await member('10');
    const browser = await shop.foyer.signedIn(user);
    const url = `${shop.foyer.url}/?${new URLSearchParams({ client_id: id, redirect_uri: redirectUri })}`;
    expect((await pageOf(browser, { url })).at.pathname).toBe('/not-in-plan');
    await has(user, '12');
    const begun = locationOf(await browser.get(url));
    expect((await on(browser, begun)).searchParams.get('id_token')).toBeTruthy();
  });

  it('A pushed request gives a member without the plan the page that says why and no silent code', async () => {
    const browser = await shop.foyer.signedIn(await member('10'));
    const pushed = async (more: Record<string, string>) =>
      (
        await oidc.buildAuthorizationUrlWithPAR(limited.config, {
          ...Object.fromEntries(new URL((await limited.begin()).url).searchParams),
          ...more,
        })
      ).href;
    expect((await pageOf(browser, { url: await pushed({}) })).at.pathname).toBe('/not-in-plan');
    const { searchParams: said } = await lead(browser, { url: await pushed({ prompt: 'none' }) });
    expect(said.get('error')).toBe('interaction_required');
  });

  it('A GraphQL look-up with a token from before the loss of the plan is refused', async () => {
    const user = await member('12');
    const { access_token: token } = await tokensFor(limited, shop.foyer.browser(), user);
    const ask = async () => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ query: '{ listUsers { items { id } } }' });
      return (await sendRequest(`${shop.foyer.url}/graphql`, { method: 'POST', headers, body })).status;
    };
    expect(await ask()).toBe(200);
    await has(user, null);
    expect(await ask()).toBe(401);
  });
});

describe('the next steps of a member without the plan', () => {
  it('Buying the plan completes the waiting request in the client app', async () => {
    const user = await member(null);
    await shop.saveCard(user);
    const browser = await shop.foyer.signedIn(user);
    const begun = await limited.begin();
    const { html, words } = await pageOf(browser, begun);
    expect(words).toContain('You do not have a plan yet, and this app is part of one.');
    const href = /href="(\/plan-purchase\/12\?[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const paid = locationOf(await press(browser, href));
    expect(new URL(paid).pathname).toBe('/signup/completed/m-499');
    const completed = await (await browser.get(paid)).text();
    const verify =
      /(?:href|data-href)="([^"]*\/verify-user[^"]*)"/.exec(completed)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const back = await on(browser, await store(browser, new URL(verify, shop.foyer.url).href));
    expect(back.searchParams.get('state')).toBe(begun.state);
    expect((await limited.redeem(back.href, begun)).claims()?.sub).toBe(user.id);
  });

  it('Going back without the plan redirects to the client app with access_denied and its state', async () => {
    const browser = await shop.foyer.signedIn(await member('10'));
    const begun = await limited.begin();
    const { at } = await pageOf(browser, begun);
    const answer = await browser.post('/not-in-plan', {
      authorization_code: at.searchParams.get('authorization_code') ?? '',
    });
    const back = await on(browser, refreshOf(await answer.text()));
    expect(back.origin + back.pathname).toBe(limited.redirectUri);
    expect(back.searchParams.get('error')).toBe('access_denied');
    expect(back.searchParams.get('state')).toBe(begun.state);
  });

  it('Without a request the not-in-plan page is shown, and with the plan it redirects to the start page of the app', async () => {
    const user = await member('10');
    const browser = await shop.foyer.signedIn(user);
    const page = await browser.get('/not-in-plan?client_id=academy');
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(html).toContain(`/plan-purchase/12?${new URLSearchParams({ redirect: '/not-in-plan?client_id=academy' })}`);
    await has(user, '12');
    const start = locationOf(await browser.get('/not-in-plan?client_id=academy'));
    expect(start).toBe(`${logback}?${new URLSearchParams({ iss: shop.foyer.url })}`);
  });

  it('The not-in-plan page reveals nothing of client apps that are hidden from members', async () => {
    const { foyer } = shop;
    const requiredPlans = ['12'];
    await foyer.addClient({ id: 'secret-app', name: 'Secret plans', requiredPlans, hidden: true });
    await foyer.addClient({ id: 'batch', name: 'Batch', service: true, redirectUris: [], scopes: ['users:read'] });
    const browser = await foyer.signedIn(await member(null));
    for (const id of ['secret-app', 'batch', 'no-such', '']) {
      const answer = await browser.get(`/not-in-plan?${new URLSearchParams({ client_id: id })}`);
      expect(answer.status).toBe(404);
      expect(await answer.text()).not.toMatch(/Secret plans|Batch/);
    }
    expect(locationOf(await foyer.browser().get('/not-in-plan?client_id=academy'))).toContain(
      '/?client_id=academy&redirect=',
    );
  });
});
