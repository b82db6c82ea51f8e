import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from './browser.ts';
import { password, type TestFoyer } from './foyer.ts';

/** A started sign-in of a client app. */
export interface Begun {
  url: string;
  state: string;
  nonce: string;
  verifier: string;
}

/** A typical client app: openid-client, without anything special to Foyer. */
export interface RelyingParty {
  config: oidc.Configuration;
  id: string;
  redirectUri: string;
  begin(parameters?: Record<string, string>): Promise<Begun>;
  /** Redeems the response at the redirect address. */
  redeem(callback: string, begun: Begun): Promise<oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers>;
}

export async function relyingParty(
  foyer: Pick<TestFoyer, 'url'>,
  client: { id: string; secret: string | null; redirectUri: string; key?: oidc.PrivateKey },
  scope = 'openid profile email phone',
): Promise<RelyingParty> {
  const withoutKey = client.secret === null ? oidc.None() : oidc.ClientSecretBasic(client.secret);
  const authentication = client.key ? oidc.PrivateKeyJwt(client.key) : withoutKey;
  const config = await oidc.discovery(new URL(foyer.url), client.id, undefined, authentication, {
    execute: [oidc.allowInsecureRequests],
  });
  return {
    config,
    id: client.id,
    redirectUri: client.redirectUri,
    async begin(parameters = {}) {
      const verifier = oidc.randomPKCECodeVerifier();
      const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: client.redirectUri,
        scope,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...parameters,
      });
      return { url: url.href, state, nonce, verifier };
    },
    redeem: (callback, { verifier, state, nonce }) =>
      oidc.authorizationCodeGrant(config, new URL(callback), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      }),
  };
}

export type Tokens = Awaited<ReturnType<RelyingParty['redeem']>>;

/** A whole sign-in for a client app, including the redemption of the code. */
export async function tokensFor(
  client: RelyingParty,
  browser: Browser,
  user: User,
  parameters: Record<string, string> = {},
): Promise<Tokens> {
  const begun = await client.begin(parameters);
  return client.redeem(await signInFor(browser, begun, user), begun);
}

/** Sends a pending request to POST /storage, as the script of /verify-user does; returns the target. */
export async function store(browser: Browser, verifyUser: string): Promise<string> {
  const id = new URL(verifyUser).searchParams.get('authorization_code');
  const answer = await browser.postJson('/storage', { authorization_code: id });
  if (answer.status !== 200) throw new Error(`/storage answered ${answer.status}: ${await answer.text()}`);
  const { data } = (await answer.json()) as { data: { location: string } };
  return new URL(data.location, answer.url).href;
}

/** Follows a started request in a browser with or without a session; returns the callback address. */
export async function signInFor(
  browser: Browser,
  begun: Pick<Begun, 'url'>,
  user: { email: string },
  secret = password,
): Promise<string> {
  return homeFrom(browser, locationOf(await browser.get(begun.url, { from: 'cross-site' })), user, secret);
}

/** Continues from a page of a sign-in, also from one that starts it again; returns the callback address. */
export async function homeFrom(
  browser: Browser,
  page: string,
  user: { email: string },
  secret = password,
): Promise<string> {
  let at = page;
  for (let hops = 0; hops < 10; hops += 1) {
    const url = new URL(at);
    if (['code', 'error', 'id_token'].some((name) => url.searchParams.has(name)) || url.hash !== '') return at;
    if (url.pathname === '/verify-user') at = await store(browser, at);
    else if (url.pathname === '/') {
      const page = await browser.get(at);
      if (page.status === 303) at = locationOf(page);
      else at = locationOf(await browser.post(`/sign-in${url.search}`, { username: user.email, password: secret }));
    } else if (url.pathname === '/consent') {
      const id = url.searchParams.get('authorization_code') ?? '';
      const page = await (await browser.post('/consent', { authorization_code: id, decision: 'allow' })).text();
      at = refreshOf(page);
    } else if (url.pathname === '/begin-again') {
      at = new URL(refreshOf(await (await browser.get(at)).text()), at).href;
    } else at = locationOf(await browser.get(at));
  }
  throw new Error(`did not come home: ${at}`);
}

/** The target of a page that redirects by itself. */
export function refreshOf(html: string): string {
  const href = /http-equiv="refresh" content="0; url=([^"]+)"/i.exec(html)?.[1];
  if (href === undefined) throw new Error(`no page that goes on: ${html.slice(0, 300)}`);
  return href.replaceAll('&amp;', '&');
}
