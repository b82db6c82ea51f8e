import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { type ClientRequest, clientMetadata, InvalidClientRequest } from '../../server/oidc/index.ts';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

const verifier = 'v'.repeat(43);
const challenge = createHash('sha256').update(verifier).digest('base64url');

type Registered = Awaited<ReturnType<TestFoyer['addClient']>>;
type Answer = { status: number; error?: string; id_token?: string; error_description?: string };

describe('clients for which PKCE is waived', () => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let exempted: Registered;
  let withoutNonce: Registered;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    user = await foyer.addUser();
    browser = await foyer.signedIn(user);
    exempted = await foyer.addClient({ pkceOptional: true });
    withoutNonce = await foyer.addClient({ pkceOptional: true, nonceOptional: true });
  });
  afterAll(() => foyer?.close());

  async function ask(client: Registered, more: Record<string, string>): Promise<URLSearchParams> {
    const common = { client_id: client.id, redirect_uri: client.redirectUri, response_type: 'code', state: 's' };
    const query = new URLSearchParams({ ...common, scope: 'openid', ...more });
    return new URL(locationOf(await browser.get(`/oauth2/authorize?${query}`, { from: 'cross-site' }))).searchParams;
  }
  async function redeem(client: Registered, code: string | null, more: Record<string, string> = {}): Promise<Answer> {
    const headers = { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` };
    const fields = { grant_type: 'authorization_code', code: code ?? '', redirect_uri: client.redirectUri, ...more };
    const body = new URLSearchParams(fields);
    const answer = await sendRequest(`${foyer.url}/oauth2/token`, { method: 'POST', headers, body });
    return { status: answer.status, ...((await answer.json()) as object) };
  }

  it('A code request without a challenge but with a nonce gives a code, whose id token has the nonce', async () => {
    const code = (await ask(exempted, { nonce: 'n-1' })).get('code');
    const answer = await redeem(exempted, code);
    expect(answer.status).toBe(200);
    expect(decodeJwt(answer.id_token ?? '')).toMatchObject({ nonce: 'n-1', sub: user.id });
  });

  it('A code request without a challenge and without a nonce is refused, and the description names both', async () => {
    const sent = await ask(exempted, {});
    expect([sent.get('code'), sent.get('error'), sent.get('state')]).toEqual([null, 'invalid_request', 's']);
    expect(sent.get('error_description')).toMatch(/code_challenge.*nonce/);
    expect((await ask(exempted, { nonce: '' })).get('error')).toBe('invalid_request');
  });

  it('A client registered without PKCE and nonce gets a code for a bare request', async () => {
    const answer = await redeem(withoutNonce, (await ask(withoutNonce, {})).get('code'));
    expect(answer.status).toBe(200);
    expect(decodeJwt(answer.id_token ?? '')).not.toHaveProperty('nonce');
  });

  it.each([
    ['plain', { code_challenge: verifier, code_challenge_method: 'plain' }],
    ['no method', { code_challenge: challenge }],
    ['a short challenge', { code_challenge: 'abc', code_challenge_method: 'S256' }],
    ['a method alone', { code_challenge_method: 'S256' }],
  ])('A challenge with %s is refused although the client needs none', async (_what, parameters) => {
    for (const client of [exempted, withoutNonce]) {
      const sent = await ask(client, { nonce: 'n', ...parameters });
      expect([sent.get('code'), sent.get('error')]).toEqual([null, 'invalid_request']);
    }
  });

  it('A challenge that was sent is checked at the token endpoint, and a verifier without one is refused', async () => {
    const sent = { nonce: 'n', code_challenge: challenge, code_challenge_method: 'S256' };
    for (const client of [exempted, withoutNonce]) {
      for (const wrong of [undefined, { code_verifier: 'w'.repeat(43) }]) {
        const refused = await redeem(client, (await ask(client, sent)).get('code'), wrong);
        expect([refused.status, refused.error]).toEqual([400, 'invalid_grant']);
      }
      const right = await redeem(client, (await ask(client, sent)).get('code'), { code_verifier: verifier });
      expect(right.status).toBe(200);
      const injected = await redeem(client, (await ask(client, { nonce: 'n' })).get('code'), {
        code_verifier: verifier,
      });
      expect([injected.status, injected.error]).toEqual([400, 'invalid_grant']);
    }
  });

  it('Every other client still needs a challenge, also with a nonce', async () => {
    for (const registration of [{}, { public: true }, { thirdParty: true }]) {
      const sent = await ask(await foyer.addClient(registration), { nonce: 'n' });
      expect([sent.get('code'), sent.get('error')]).toEqual([null, 'invalid_request']);
    }
  });

  it('A switch of account by /logout follows such a request with a nonce, and not without one', async () => {
    const link = (client: Registered, more: Record<string, string>) => {
      const common = { client_id: client.id, redirect_uri: client.redirectUri, response_type: 'code', state: 's' };
      return `/logout?${new URLSearchParams({ ...common, ...more })}`;
    };
    const target = async (client: Registered, more: Record<string, string>) => {
      const visitor = await foyer.signedIn(user);
      return new URL(locationOf(await visitor.get(link(client, more), { from: 'same-origin' })));
    };
    const followed = await target(exempted, { nonce: 'n-2' });
    expect([followed.pathname, followed.searchParams.get('nonce'), followed.searchParams.get('scope')]).toEqual([
      '/oauth2/authorize',
      'n-2',
      'openid',
    ]);
    expect((await target(withoutNonce, {})).pathname).toBe('/oauth2/authorize');
    expect((await target(exempted, {})).pathname).toBe('/');
    expect((await target(exempted, { nonce: 'n', code_challenge: challenge })).pathname).toBe('/');
  });

  it.each<[string, Partial<ClientRequest>, RegExp]>([
    ['a public client', { public: true, pkceOptional: true }, /^no-pkce: /],
    ['a native client', { native: true, redirectUris: ['com.example.app:/cb'], pkceOptional: true }, /^no-pkce: /],
    ['a client on a device', { device: true, pkceOptional: true }, /^no-pkce: /],
    ['a client that needs PKCE', { nonceOptional: true }, /^no-nonce: /],
  ])('Attack: the exemption cannot be registered for %s', (_what, change, fault) => {
    const request = { id: 'x', name: 'X', redirectUris: ['https://x.example/cb'], ...change };
    let faults: readonly string[] = [];
    try {
      clientMetadata(request, { development: false });
    } catch (error) {
      if (error instanceof InvalidClientRequest) faults = error.faults;
    }
    expect(faults).toEqual([expect.stringMatching(fault)]);
  });
});
