import { locationOf } from '../support/browser.ts';
import { toClientId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { callback, fromShop, setUpSwitchAccount, site } from './switch-account-steps.ts';

/**
 * Section "Logout" of the specification: the branches that end at the authorize path, where another user can sign in.
 */
describe.each(backends)('switch of account by /logout on $name', (backend) => {
  const context = setUpSwitchAccount(backend);
  const { isSignedIn, logout, idToken } = context;

  describe('/logout without a valid request', () => {
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const code = { response_type: 'code', code_challenge: challenge, code_challenge_method: 'S256', scope: 'openid' };
    it.each([
      ['no parameters', {}],
      ['redirect=broker', { redirect: 'broker' }],
      ['a client alone', { client_id: 'OWN' }],
      ['an address alone', { redirect_uri: callback, ...code }],
      ['an unknown client', { client_id: 'unknown-client', redirect_uri: callback, ...code }],
      ['a malformed client id', { client_id: '\u0000/../', redirect_uri: callback, ...code }],
      ['an unknown response type', { client_id: 'OWN', redirect_uri: callback, ...code, response_type: 'token' }],
      ['two response types', { client_id: 'OWN', redirect_uri: callback, ...code, response_type: 'code id_token' }],
      ['a response type outside the registration', { client_id: 'CODE', redirect_uri: `${callback}2`, ...idTokenOf() }],
      ['a code without a challenge', { client_id: 'OWN', redirect_uri: callback, response_type: 'code' }],
      [
        'a challenge without its method',
        { client_id: 'OWN', redirect_uri: callback, ...code, code_challenge_method: '' },
      ],
      ['a plain challenge', { client_id: 'OWN', redirect_uri: callback, ...code, code_challenge_method: 'plain' }],
      ['a short challenge', { client_id: 'OWN', redirect_uri: callback, ...code, code_challenge: 'abc' }],
      ['an id token without a nonce', { client_id: 'OWN', redirect_uri: callback, ...idTokenOf(), nonce: '' }],
      [
        'an id token without the scope openid',
        { client_id: 'OWN', redirect_uri: callback, ...idTokenOf(), scope: 'email' },
      ],
      [
        'a scope outside the registration',
        { client_id: 'OWN', redirect_uri: callback, ...code, scope: 'openid payments:write' },
      ],
      ['a client with a broken registration', { client_id: 'BROKEN', logout_uri: `${site}/bye` }],
      ['a client that pushes its requests', { client_id: 'PAR', redirect_uri: `${callback}3`, ...code }],
    ] as [string, Record<string, string>][])(
      '/logout with %s signs out and ends at the start page',
      async (_what, parameters) => {
        const ids: Record<string, string> = {
          OWN: context.client.id,
          CODE: others.code.id,
          PAR: others.par.id,
          BROKEN: others.broken.id,
        };
        const asked = {
          ...parameters,
          ...(parameters.client_id && { client_id: ids[parameters.client_id] ?? parameters.client_id }),
        };
        const linked = await context.browser.get(logout(asked), { from: 'same-origin' });
        expect([linked.status, linked.headers.get('location'), await isSignedIn()]).toEqual([303, '/', false]);
        context.browser = await context.foyer.signedIn(context.user);
        const posted = await context.browser.post('/logout', asked);
        expect([posted.status, posted.headers.get('location'), await isSignedIn()]).toEqual([303, '/', false]);
      },
    );

    function idTokenOf() {
      return { response_type: 'id_token', scope: 'openid', nonce: 'n' };
    }
    let others: Record<'code' | 'par' | 'broken', { id: string }>;
    beforeAll(async () => {
      others = {
        code: await context.foyer.addClient({ redirectUris: [`${callback}2`] }),
        par: await context.foyer.addClient({ redirectUris: [`${callback}3`], requirePushedRequests: true }),
        broken: await context.foyer.addClient({ redirectUris: [callback], logoutUris: [`${site}/bye`] }),
      };
      const { db } = context.foyer.deps.database;
      const { metadata } = await db
        .selectFrom('clients')
        .select('metadata')
        .where('id', '=', toClientId(others.broken.id))
        .executeTakeFirstOrThrow();
      const broken = JSON.stringify({ ...JSON.parse(metadata), redirect_uris: ['no address'] });
      await db
        .updateTable('clients')
        .set({ metadata: broken })
        .where('id', '=', toClientId(others.broken.id))
        .execute();
    });
  });

  it.each([
    ['another path', `${callback}/more`],
    ['a slash at its end', `${callback}/`],
    ['a query', `${callback}?next=//evil.example`],
    ['a fragment', `${callback}#x`],
    ['another case', `${site}/Callback`],
    ['another case of the host', 'https://SHOP.example/callback'],
    ['an encoded letter', `${site}/%63allback`],
    ['a path that climbs', `${site}/x/../callback`],
    ['another port', 'https://shop.example:8443/callback'],
    ['the default port in the address', 'https://shop.example:443/callback'],
    ['plain http', 'http://shop.example/callback'],
    ['a user', 'https://x@shop.example/callback'],
    ['the host as a user', 'https://shop.example@evil.example/callback'],
    ['a backslash', 'https://evil.example\\@shop.example/callback'],
    ['a longer host', 'https://shop.example.evil.example/callback'],
    ['a letter of another script', 'https://shоp.example/callback'],
    ['a dot of another script', 'https://shop。example/callback'],
    ['a wildcard', `${site}/*`],
    ['no scheme', '//shop.example/callback'],
    ['a path alone', '/callback'],
    ['a script', 'javascript:alert(1)'],
    ['a line break', `${callback}\r\nLocation: https://evil.example/`],
    ['a space', ` ${callback}`],
    ['the address of another client', 'https://other.example/callback'],
    ['the logout address of the client', `${site}/bye`],
  ])('Attack: a redirect address that looks like the registered one ends at the start page: %s', async (_what, uri) => {
    await context.foyer.addClient({ redirectUris: ['https://other.example/callback'] });
    const asked = { ...idToken(), redirect_uri: uri };
    const linked = await context.browser.get(logout(asked), fromShop);
    expect([linked.status, linked.headers.get('location'), await isSignedIn()]).toEqual([303, '/', false]);
    const posted = await context.browser.post('/logout', asked);
    expect([posted.status, posted.headers.get('location')]).toEqual([303, '/']);
  });

  it('Attack: injected parameters are not passed on to the authorization endpoint', async () => {
    const injected = {
      prompt: 'none',
      response_mode: 'form_post',
      login_hint: 'x@evil.example',
      id_token_hint: 'x',
      claims: '{}',
      request: 'x',
      request_uri: 'urn:x',
      resource: 'https://api.example',
      max_age: '0',
      iss: 'x',
      redirect: '//evil',
      acr_values: 'phr',
      dpop_jkt: 'x',
      code_challenge: 'x',
      ui_locales: 'xx',
      forceAuth: '1',
    };
    const answer = await context.browser.get(logout({ ...injected, ...idToken() }), fromShop);
    expect(Object.fromEntries(new URL(locationOf(answer)).searchParams)).toEqual(idToken());
  });

  it('A parameter that is given twice counts as not given', async () => {
    for (const twice of ['client_id', 'redirect_uri', 'response_type', 'logout_uri', 'state']) {
      context.browser = await context.foyer.signedIn(context.user);
      const address = `${logout(idToken())}&${twice}=a&${twice}=b`;
      const answer = await context.browser.get(address, { from: 'same-origin' });
      const { pathname, searchParams } = new URL(locationOf(answer));
      expect([twice, pathname, searchParams.has(twice)]).toEqual([
        twice,
        ['logout_uri', 'state'].includes(twice) ? '/oauth2/authorize' : '/',
        false,
      ]);
    }
    context.browser = await context.foyer.signedIn(context.user);
    expect((await context.browser.postJson('/logout', { ...idToken(), redirect_uri: ['a', 'b'] })).status).toBe(400);
    expect(await isSignedIn()).toBe(true);
  });
});
