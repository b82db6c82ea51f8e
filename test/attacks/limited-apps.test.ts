import * as oidc from 'openid-client';
import { withDefaultClient } from '../oidc/token-cookie-tools.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { refreshOf, relyingParty, signInFor, store, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { setUpLimitedApp } from './limited-apps-steps.ts';

const context = setUpLimitedApp();
const { has, member, lead, on, pageOf } = context;

describe('a client app that is limited to some plans', () => {
  it('A client app that is limited to some plans is open to members who have one of them', async () => {
    const tokens = await tokensFor(context.limited, context.shop.foyer.browser(), await member('12'));
    expect(tokens.access_token).toBeTruthy();
  });

  it('A member without the plan gets the page that says why, after the sign-in and from a live session', async () => {
    const [user, browser] = [await member('10'), context.shop.foyer.browser()];
    const begun = await context.limited.begin();
    const landing = await lead(browser, begun);
    const entered = await browser.post(`/sign-in${landing.search}`, { username: user.email, password });
    const verify = new URL(locationOf(entered));
    expect(verify.pathname).toBe('/verify-user');
    // It does not matter whether the page is opened or its script posts at once.
    expect((await on(browser, verify)).pathname).toBe('/not-in-plan');
    const shut = new URL(await store(browser, verify.href));
    expect(shut.pathname).toBe('/not-in-plan');
    const { at, words } = await pageOf(browser, await context.limited.begin());
    expect(at.pathname).toBe('/not-in-plan');
    expect(words).toContain('Academy isn’t in your plan');
    expect(words).toContain('You have the plan Starter, monthly, which doesn’t include this app.');
    expect(words).toContain('Growth, monthly');
    expect(words).toContain('Growth, annual');
    expect(words).not.toContain('Scale');
  });

  it('A member without the plan gets no silent code, whatever the request says', async () => {
    const browser = await context.shop.foyer.signedIn(await member(null));
    const requests: Record<string, string>[] = [
      {},
      { response_type: 'id_token', response_mode: 'fragment' },
      { max_age: '3600' },
    ];
    for (const more of requests) {
      const back = await lead(browser, await context.limited.begin({ prompt: 'none', ...more }));
      const said = back.hash === '' ? back.searchParams : new URLSearchParams(back.hash.slice(1));
      expect(said.get('error')).toBe('interaction_required');
      expect(said.has('code') || said.has('id_token')).toBe(false);
    }
  });

  it('A member without the plan gets no code by the resume address, with or without an answer', async () => {
    const [user, browser] = [await member('12'), context.shop.foyer.browser()];
    const landing = await lead(browser, await context.limited.begin());
    const verify = locationOf(await browser.post(`/sign-in${landing.search}`, { username: user.email, password }));
    const resume = await store(browser, verify);
    expect(resume).toContain('/oauth2/authorize/');
    // The answer is stored, but the user no longer has the plan.
    await has(user, null);
    expect((await on(browser, resume)).origin).toBe(context.shop.foyer.url);
    const other = await lead(browser, await context.limited.begin());
    const uid = other.searchParams.get('authorization_code');
    const bare = await browser.get(`/oauth2/authorize/${uid}`);
    expect(bare.headers.get('location') ?? '').not.toContain(context.limited.redirectUri);
  });

  it('A user who signs in instead of a member without the plan does not inherit that member’s consent', async () => {
    const client = await context.shop.foyer.addClient({ thirdParty: true, requiredPlans: ['12'] });
    const partner = await relyingParty(context.shop.foyer, client);
    const [first, second] = [await member('12'), await member('12')];
    const browser = await context.shop.foyer.signedIn(first);
    const asked = await lead(browser, await partner.begin());
    expect(asked.pathname).toBe('/consent');
    const id = asked.searchParams.get('authorization_code') ?? '';
    const allowed = await browser.post('/consent', { authorization_code: id, decision: 'allow' });
    // The plan ends before the provider continues, and another user signs in for the request.
    await has(first, null);
    const again = await on(browser, refreshOf(await allowed.text()));
    expect(again.pathname).toBe('/');
    const entered = await browser.post(`/sign-in${again.search}`, { username: second.email, password });
    const resume = await store(browser, locationOf(entered));
    const next = await on(browser, resume);
    expect([next.origin, next.pathname]).toEqual([context.shop.foyer.url, '/consent']);
  });

  it('A third-party app learns nothing of a member’s plan by prompt=none before the member has let it in', async () => {
    const partner = await relyingParty(
      context.shop.foyer,
      await context.shop.foyer.addClient({ thirdParty: true, requiredPlans: ['12'] }),
    );
    const [inside, outside] = [await member('12'), await member('10')];
    const [visitor, other] = [await context.shop.foyer.signedIn(inside), await context.shop.foyer.signedIn(outside)];
    const said = async (browser: Browser) =>
      (await lead(browser, await partner.begin({ prompt: 'none' }))).searchParams.get('error');
    expect([await said(visitor), await said(other)]).toEqual(['consent_required', 'consent_required']);
    await tokensFor(partner, visitor, inside);
    await has(inside, null);
    expect(await said(visitor)).toBe('interaction_required');
  });

  it('A code from before a downgrade is refused', async () => {
    const [user, browser] = [await member('13'), context.shop.foyer.browser()];
    const begun = await context.limited.begin();
    const callback = await signInFor(browser, begun, user);
    await has(user, '10');
    await expect(context.limited.redeem(callback, begun)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('Tokens stop working after a downgrade and work again after an upgrade', async () => {
    const [user, browser] = [await member('12'), context.shop.foyer.browser()];
    const tokens = await tokensFor(context.limited, browser, user);
    const { access_token: access, refresh_token: refresh = '' } = tokens;
    const info = async () => (await oidc.fetchUserInfo(context.limited.config, access, user.id)).sub;
    const api = async () =>
      (await sendRequest(`${context.shop.foyer.url}/clients`, { headers: { authorization: `Bearer ${access}` } }))
        .status;
    const active = async (token: string) => (await oidc.tokenIntrospection(context.limited.config, token)).active;
    expect([await info(), await api(), await active(access), await active(refresh)]).toEqual([
      user.id,
      200,
      true,
      true,
    ]);
    await has(user, '10');
    await expect(info()).rejects.toThrow();
    expect([await api(), await active(access), await active(refresh)]).toEqual([401, false, false]);
    await expect(oidc.refreshTokenGrant(context.limited.config, refresh)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    const { searchParams: said } = await lead(browser, await context.limited.begin({ prompt: 'none' }));
    expect(said.get('error')).toBe('interaction_required');
    await has(user, '13');
    expect([await info(), await api(), await active(access)]).toEqual([user.id, 200, true]);
    expect((await oidc.refreshTokenGrant(context.limited.config, refresh)).access_token).toBeTruthy();
  });

  it('A trial that is over gives no access, although nothing was written to the database', async () => {
    const { foyer } = context.shop;
    const scopes = ['openid', 'email'];
    const app = await relyingParty(
      foyer,
      await foyer.addClient({ scopes, requiredEntitlements: ['messages'] }),
      'openid',
    );
    const [user, browser] = [await member(null), foyer.browser()];
    await has(user, null, context.shop.standIn.engine.nowMs() + 60_000);
    const { refresh_token: refresh = '' } = await tokensFor(app, browser, user);
    await context.shop.standIn.engine.advance(60_000);
    await expect(oidc.refreshTokenGrant(app.config, refresh)).rejects.toMatchObject({ error: 'invalid_grant' });
    expect((await lead(browser, await app.begin({ prompt: 'none' }))).searchParams.get('error')).toBe(
      'interaction_required',
    );
  });

  it('The site’s own client gives a member without the plan no token cookies and removes existing ones', async () => {
    const { foyer } = context.shop;
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
    const browser = await context.shop.foyer.signedIn(await member('10'));
    const begun = await context.limited.begin();
    const { html } = await pageOf(browser, begun);
    const href = /href="(\/\?[^"]*forceAuth[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect((await browser.get(href)).status).toBe(200);
    const other = await member('12');
    const { search } = new URL(href, context.shop.foyer.url);
    const verify = locationOf(await browser.post(`/sign-in${search}`, { username: other.email, password }));
    const back = await on(browser, await store(browser, verify));
    expect((await context.limited.redeem(back.href, begun)).claims()?.sub).toBe(other.id);
  });

  it('Another browser that opens the page of a waiting request learns nothing', async () => {
    const { at } = await pageOf(await context.shop.foyer.signedIn(await member('10')), await context.limited.begin());
    const stranger = await context.shop.foyer.signedIn(await member('10'));
    const page = await stranger.get(at.pathname + at.search);
    expect(page.status).toBe(403);
    expect(await page.text()).not.toMatch(/in your plan|plan-purchase/);
    const id = at.searchParams.get('authorization_code') ?? '';
    expect((await stranger.post('/not-in-plan', { authorization_code: id })).status).toBe(403);
  });
});
