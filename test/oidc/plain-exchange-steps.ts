import Provider from 'oidc-provider';
import { sha256, toSealedText } from '../../server/shared/index.ts';
import type { User } from '../../server/users/index.ts';
import { type Answer, basicOf, portOf, send } from '../attacks/wire.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';

type Client = Awaited<ReturnType<TestFoyer['addClient']>>;
export type Fields = Record<string, string>;

/** A client app with a member who is signed in to it. */
export interface App {
  client: Client;
  party: RelyingParty;
  /** The form of an exchange with a new code. */
  newCode(parameters?: Fields): Promise<Fields>;
}

export async function appOf(
  foyer: TestFoyer,
  client: Client,
  { browser, user, scope }: { browser: Browser; user: User; scope?: string },
): Promise<App> {
  const party = await relyingParty(foyer, client, scope);
  return {
    client,
    party,
    async newCode(parameters) {
      const begun = await party.begin(parameters);
      const home = new URL(await signInFor(browser, begun, user));
      return {
        grant_type: 'authorization_code',
        code: home.searchParams.get('code') ?? '',
        redirect_uri: client.redirectUri,
        code_verifier: begun.verifier,
      };
    },
  };
}

/** The client's authentication: by the header, or by its id for a public client. */
export const authenticationOf = ({ id, secret }: Client): { headers: Fields; fields: Fields } =>
  secret === null
    ? { headers: {}, fields: { client_id: id } }
    : { headers: { authorization: basicOf({ id, secret }) }, fields: {} };

/** Sends an exchange. @returns the answer, and whether the library had the request */
export async function exchange(
  foyer: TestFoyer,
  body: string,
  headers: Fields,
): Promise<Answer & { byLibrary: boolean }> {
  const reached = jest.spyOn(Provider.prototype, 'createContext');
  try {
    const answer = await send(portOf(foyer.url), '/oauth2/token', {
      method: 'POST',
      headers: {
        host: new URL(foyer.url).host,
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      body,
    });
    return { ...answer, byLibrary: reached.mock.calls.length > 0 };
  } finally {
    reached.mockRestore();
  }
}

/** A parameter that the library ignores (RFC 6749, section 3.2). */
const ignored = '&unknown=1';

/** The same exchange by the library. */
export const exchangeByLibrary: typeof exchange = (foyer, body, headers) => exchange(foyer, body + ignored, headers);

/** The stored record of an access token, opened. */
export async function recordOf(foyer: TestFoyer, token: string): Promise<Record<string, unknown>> {
  const key = `oidc:AccessToken:${sha256(token)}`;
  const entry = await foyer.stores.kv.getConsumable(key);
  return JSON.parse(foyer.deps.boxes.oidc.open(toSealedText(entry?.value ?? ''), key)) as Record<string, unknown>;
}

/** The stored record of a refresh token, opened. */
export async function refreshRecordOf(foyer: TestFoyer, token: string): Promise<Record<string, unknown>> {
  const { payload, expiresAt, grantId } = await foyer.stores.database.db
    .selectFrom('oidc')
    .select(['payload', 'expiresAt', 'grantId'])
    .where('model', '=', 'RefreshToken')
    .where('idHash', '=', sha256(token))
    .executeTakeFirstOrThrow();
  const opened = JSON.parse(foyer.deps.boxes.oidc.open(payload, `RefreshToken:${sha256(token)}`)) as object;
  return { ...opened, columns: { hours: Math.round(Number(expiresAt) / 3_600_000), grantId } };
}
