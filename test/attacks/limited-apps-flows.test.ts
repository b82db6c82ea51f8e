import * as oidc from 'openid-client';
import { press } from '../billing/checkout/shop.ts';
import { locationOf } from '../support/browser.ts';
import { answerCode, device, finishCode } from '../support/devices.ts';
import { refreshOf, store, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { setUpLimitedApp } from './limited-apps-steps.ts';

const context = setUpLimitedApp();
const { logback, has, member, lead, on, pageOf } = context;

describe('other flows of a limited client app', () => {
  it('A device code confirmed without the plan waits until the member has the plan or goes back', async () => {
    const radio = await device(context.shop.foyer, { requiredPlans: ['12'] });
    const [asked, refused, bought] = [await radio.ask(), await radio.ask(), await radio.ask()];
    const user = await member('10');
    const browser = await context.shop.foyer.signedIn(user);
    const stopped = await pageOf(browser, { url: await answerCode(browser, asked.user_code) });
    expect(stopped.at.pathname).toBe('/not-in-plan');
    expect((await radio.poll(asked)).body.error).toBe('authorization_pending');
    // The resume address has no answer to continue with.
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
    const radio = await device(context.shop.foyer, { requiredPlans: ['12'] });
    const [early, late] = [await radio.ask(), await radio.ask()];
    const user = await member('12');
    const browser = await context.shop.foyer.signedIn(user);
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
    const { id } = await context.shop.foyer.addClient(registration);
    const user = await member('10');
    const browser = await context.shop.foyer.signedIn(user);
    const url = `${context.shop.foyer.url}/?${new URLSearchParams({ client_id: id, redirect_uri: redirectUri })}`;
    expect((await pageOf(browser, { url })).at.pathname).toBe('/not-in-plan');
    await has(user, '12');
    const begun = locationOf(await browser.get(url));
    expect((await on(browser, begun)).searchParams.get('id_token')).toBeTruthy();
  });

  it('A pushed request gives a member without the plan the page that says why and no silent code', async () => {
    const browser = await context.shop.foyer.signedIn(await member('10'));
    const pushed = async (more: Record<string, string>) =>
      (
        await oidc.buildAuthorizationUrlWithPAR(context.limited.config, {
          ...Object.fromEntries(new URL((await context.limited.begin()).url).searchParams),
          ...more,
        })
      ).href;
    expect((await pageOf(browser, { url: await pushed({}) })).at.pathname).toBe('/not-in-plan');
    const { searchParams: said } = await lead(browser, { url: await pushed({ prompt: 'none' }) });
    expect(said.get('error')).toBe('interaction_required');
  });

  it('A GraphQL look-up with a token from before the loss of the plan is refused', async () => {
    const user = await member('12');
    const { access_token: token } = await tokensFor(context.limited, context.shop.foyer.browser(), user);
    const ask = async () => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ query: '{ listUsers { items { id } } }' });
      return (await sendRequest(`${context.shop.foyer.url}/graphql`, { method: 'POST', headers, body })).status;
    };
    expect(await ask()).toBe(200);
    await has(user, null);
    expect(await ask()).toBe(401);
  });
});

describe('the next steps of a member without the plan', () => {
  it('Buying the plan completes the waiting request in the client app', async () => {
    const user = await member(null);
    await context.shop.saveCard(user);
    const browser = await context.shop.foyer.signedIn(user);
    const begun = await context.limited.begin();
    const { html, words } = await pageOf(browser, begun);
    expect(words).toContain('You don’t have a plan yet, and this app is part of one.');
    const href = /href="(\/plan-purchase\/12\?[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const paid = locationOf(await press(browser, href));
    expect(new URL(paid).pathname).toBe('/signup/completed/m-499');
    const completed = await (await browser.get(paid)).text();
    const verify =
      /(?:href|data-href)="([^"]*\/verify-user[^"]*)"/.exec(completed)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const back = await on(browser, await store(browser, new URL(verify, context.shop.foyer.url).href));
    expect(back.searchParams.get('state')).toBe(begun.state);
    expect((await context.limited.redeem(back.href, begun)).claims()?.sub).toBe(user.id);
  });

  it('Going back without the plan redirects to the client app with access_denied and its state', async () => {
    const browser = await context.shop.foyer.signedIn(await member('10'));
    const begun = await context.limited.begin();
    const { at } = await pageOf(browser, begun);
    const answer = await browser.post('/not-in-plan', {
      authorization_code: at.searchParams.get('authorization_code') ?? '',
    });
    const back = await on(browser, refreshOf(await answer.text()));
    expect(back.origin + back.pathname).toBe(context.limited.redirectUri);
    expect(back.searchParams.get('error')).toBe('access_denied');
    expect(back.searchParams.get('state')).toBe(begun.state);
  });

  it('Without a request the not-in-plan page is shown, and with the plan it redirects to the start page of the app', async () => {
    const user = await member('10');
    const browser = await context.shop.foyer.signedIn(user);
    const page = await browser.get('/not-in-plan?client_id=academy');
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(html).toContain(`/plan-purchase/12?${new URLSearchParams({ redirect: '/not-in-plan?client_id=academy' })}`);
    await has(user, '12');
    const start = locationOf(await browser.get('/not-in-plan?client_id=academy'));
    expect(start).toBe(`${logback}?${new URLSearchParams({ iss: context.shop.foyer.url })}`);
  });

  it('The not-in-plan page reveals nothing of client apps that are hidden from members', async () => {
    const { foyer } = context.shop;
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
