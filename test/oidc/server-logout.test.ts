import * as oidc from 'openid-client';
import type { Browser } from '../support/browser.ts';
import { locationOf } from '../support/browser.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { setUpUser } from './user-and-client.ts';

describe.each(backends)('a logout that a client app’s server sends on $name', (backend) => {
  const context = setUpUser(backend);

  let browser: Browser;
  let client: RelyingParty;
  let registered: { id: string; secret: string | null; redirectUri: string };
  let tokens: Tokens;
  const backchannelLogoutUri = 'http://127.0.0.1:9/hear';

  beforeAll(async () => {
    registered = await context.foyer.addClient({ backchannelLogoutUri });
    client = await relyingParty(context.foyer, registered);
  });
  beforeEach(async () => {
    browser = await context.foyer.signedIn(context.user);
    tokens = await tokensFor(client, browser, context.user);
  });

  const basic = ({ id, secret }: { id: string; secret: string | null }) => ({
    authorization: `Basic ${btoa(`${id}:${secret}`)}`,
  });
  const logout = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    sendRequest(`${context.foyer.url}/oauth2/logout`, {
      method: 'POST',
      redirect: 'manual',
      headers,
      body: new URLSearchParams(fields),
    });
  const isAlive = (of: Tokens, owner = client) =>
    oidc.fetchUserInfo(owner.config, of.access_token, context.user.id).then(
      () => true,
      () => false,
    );
  const hint = (of = tokens) => of.id_token ?? '';

  it.each([
    ['client_secret_basic', () => ({}), () => basic(registered)],
    ['client_secret_post', () => ({ client_id: registered.id, client_secret: registered.secret ?? '' }), () => ({})],
  ])('An id token with %s ends the grant of that session for this client alone', async (_method, fields, headers) => {
    const other = await relyingParty(context.foyer, await context.foyer.addClient({ public: true }));
    const others = await tokensFor(other, browser, context.user);
    const elsewhere = await tokensFor(client, await context.foyer.signedIn(context.user), context.user);
    const answer = await logout({ id_token_hint: hint(), ...fields() }, headers());
    expect([answer.status, answer.headers.get('cache-control'), await answer.text()]).toEqual([200, 'no-store', '']);
    expect(await isAlive(tokens)).toBe(false);
    await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect([await isAlive(others, other), await isAlive(elsewhere)]).toEqual([true, true]);
    // No browser takes part, so the user stays signed in.
    expect((await browser.get('/settings')).status).toBe(200);
  });

  it('A repeated logout, and one after the end of the session, answer 200 alike', async () => {
    expect((await logout({ id_token_hint: hint() }, basic(registered))).status).toBe(200);
    expect((await logout({ id_token_hint: hint() }, basic(registered))).status).toBe(200);
    await browser.post('/logout', {});
    expect((await logout({ id_token_hint: hint() }, basic(registered))).status).toBe(200);
  });

  it('Offline access of the session outlives the logout of a server', async () => {
    const partner = await context.foyer.addClient({
      thirdParty: true,
      backchannelLogoutUri,
      scopes: ['openid', 'offline_access'],
    });
    const app = await relyingParty(context.foyer, partner, 'openid offline_access');
    const offline = await tokensFor(app, browser, context.user, { prompt: 'consent' });
    expect((await logout({ id_token_hint: hint(offline) }, basic(partner))).status).toBe(200);
    expect((await oidc.refreshTokenGrant(app.config, offline.refresh_token ?? '')).access_token).toBeDefined();
  });

  it('Attack: no logout without authentication, with a wrong secret, or by GET ends a grant', async () => {
    const wrong = await logout({ id_token_hint: hint() }, basic({ id: registered.id, secret: 'wrong' }));
    expect([wrong.status, await wrong.json()]).toEqual([401, expect.objectContaining({ error: 'invalid_client' })]);
    const byName = await logout({ id_token_hint: hint(), client_id: registered.id });
    expect(byName.status).toBe(303);
    const address = `${context.foyer.url}/oauth2/logout?${new URLSearchParams({ id_token_hint: hint() })}`;
    expect((await sendRequest(address, { redirect: 'manual', headers: basic(registered) })).status).toBe(303);
    expect(await isAlive(tokens)).toBe(true);
  });

  it('Attack: an id token of another client, a changed one, and none end no grant', async () => {
    const other = await context.foyer.addClient({ backchannelLogoutUri });
    const others = await tokensFor(await relyingParty(context.foyer, other), browser, context.user);
    const [head, body] = hint().split('.');
    for (const [value, secrets] of [
      [hint(), other],
      [hint(others), registered],
      [`${head}.${body}.${'A'.repeat(86)}`, registered],
      [`${btoa('{"alg":"none"}').replaceAll('=', '')}.${body}.`, registered],
      ['', registered],
      [tokens.access_token, registered],
    ] as const) {
      const answer = await logout({ id_token_hint: value }, basic(secrets));
      expect([answer.status, await answer.json()]).toEqual([
        400,
        expect.objectContaining({ error: 'invalid_request' }),
      ]);
    }
    expect([await isAlive(tokens), await isAlive(others)]).toEqual([true, true]);
    expect(context.foyer.logged()).toContain('"endpoint":"logout"');
  });

  it('Attack: a token beside the id token is not revoked, and a public client cannot send a logout', async () => {
    const later = await tokensFor(client, await context.foyer.signedIn(context.user), context.user);
    await logout({ id_token_hint: hint(), token: later.refresh_token ?? '' }, basic(registered));
    expect(await isAlive(later)).toBe(true);
    const open = await context.foyer.addClient({ public: true, backchannelLogoutUri });
    const app = await relyingParty(context.foyer, open);
    const held = await tokensFor(app, browser, context.user);
    await logout({ id_token_hint: hint(held), client_id: open.id, client_secret: 'x' });
    await logout({ id_token_hint: hint(held), client_id: open.id });
    expect(await isAlive(held, app)).toBe(true);
  });

  it('An id token without sid is refused with the registration that it needs', async () => {
    const plain = await context.foyer.addClient();
    const held = await tokensFor(await relyingParty(context.foyer, plain), browser, context.user);
    const answer = await logout({ id_token_hint: hint(held) }, basic(plain));
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: expect.stringContaining('back-channel logout address') },
    ]);
  });

  it('A browser’s form whose gateway adds an Authorization header goes the way of browsers', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', ...basic(registered) };
    const answer = await logout({ id_token_hint: hint() }, headers);
    expect(answer.status).toBe(303);
    expect(locationOf(answer)).toContain('/oauth2/logout?posted=');
    expect(await isAlive(tokens)).toBe(true);
  });
});
