import * as oidc from 'openid-client';
import { apiScopes, memberApiScopes } from '../../server/http/index.ts';
import type { ClientRequest } from '../../server/oidc/index.ts';
import { sha256 } from '../../server/shared/index.ts';
import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { toSealedText } from '../support/ids.ts';
import { relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';

/** What a caller sends beside the call itself. */
export interface Credentials {
  headers?: Record<string, string>;
  /** The browser whose cookies the request carries. */
  browser?: Browser;
  query?: Record<string, string>;
}

export const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
export const ownPage = (foyer: TestFoyer) => ({ 'sec-fetch-site': 'same-origin', origin: foyer.url });

export interface Signed {
  user: User;
  browser: Browser;
  clientId: string;
  tokens: Tokens;
}

/** Every scope with which a client app calls the JSON API for a member. */
export const everyScope = ['openid', ...memberApiScopes].join(' ');
/** Longer than an authentication counts as recent. */
export const lateMs = 11 * 60_000;

/** A member who has signed in to a client app that may ask for `scope`. */
export async function signedInto(
  foyer: TestFoyer,
  scope = 'openid account',
  registration: Partial<ClientRequest> = {},
): Promise<Signed> {
  const scopes = scope.split(' ');
  const [user, client] = [await foyer.addUser(), await foyer.addClient({ ...registration, scopes })];
  const browser = foyer.browser();
  const tokens = await tokensFor(await relyingParty(foyer, client, scope), browser, user);
  return { user, browser, clientId: client.id, tokens };
}

/** A client app that acts for itself, with a token of these scopes. */
export async function service(foyer: TestFoyer, scopes: readonly string[]) {
  const client = await foyer.addClient({ service: true, redirectUris: [], scopes: [...apiScopes] });
  const { config } = await relyingParty(foyer, client);
  const { access_token: token } = await oidc.clientCredentialsGrant(config, { scope: scopes.join(' ') });
  return { ...client, config, token };
}

/** The stored record of an opaque access token, changed under its own key. */
export async function tamper({ deps }: TestFoyer, token: string, change: object, kind = 'AccessToken'): Promise<void> {
  const key = `oidc:${kind}:${sha256(token)}`;
  const sealed = await deps.kv.get(key);
  if (sealed === null) throw new Error('no such token');
  const payload: object = JSON.parse(deps.boxes.oidc.open(toSealedText(sealed), key));
  await deps.kv.update(key, deps.boxes.oidc.seal(JSON.stringify({ ...payload, ...change }), key));
}
