import { client, paths, pkce, redirectUri, scope } from '../setting.ts';
import { type Connections, connect, expect, runCounted } from './connections.ts';

/** The requests of the client app and its users' browsers: silent sign-ons, code exchanges, userinfo. */
export interface RelyingParty {
  /** Each request redirects back with a code. @returns the milliseconds for all */
  authorize(count: number): Promise<number>;
  /** Redeems the codes of the last `authorize`. */
  exchange(): Promise<number>;
  /** Redeems each refresh token of the last `exchange`, which a client with a secret keeps. */
  refresh(): Promise<number>;
  /** Calls userinfo with the access tokens of the last `exchange`, in turn. */
  userinfo(count: number): Promise<number>;
  close(): Promise<void>;
}

const basic = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
const formHeaders = { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' };
const navigation = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', accept: 'text/html' };

function authorizePath(index: number): string {
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    state: `state-${index}`,
    nonce: `nonce-${index}`,
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
  });
  return `${paths.authorization}?${query}`;
}

function exchangeBody(code: string): string {
  return new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: pkce.verifier,
  }).toString();
}

interface TokenAnswer {
  access_token: string;
  id_token: string;
  refresh_token: string;
}

const claims = ['sub', 'auth_time', 'amr', 'email', 'name', 'phone_number'];

/** @throws Error when something is missing, because both sides must do the same work */
function checked(tokens: Partial<TokenAnswer>, names: readonly string[]): TokenAnswer {
  const { access_token, id_token, refresh_token } = tokens;
  if (!access_token || !id_token || !refresh_token) throw new Error('the token answer lacks a token');
  const [header = '', payload = ''] = id_token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  if ((JSON.parse(header) as { alg: string }).alg !== 'ES256') throw new Error('the id token is not signed with ES256');
  const payloadClaims = JSON.parse(payload) as Record<string, unknown>;
  for (const name of names) {
    if (payloadClaims[name] === undefined) throw new Error(`the id token lacks ${name}`);
  }
  return { access_token, id_token, refresh_token };
}

/**
 * @param sessions the Cookie header of each signed-in browser
 * @param atOnce the number of requests at the same time
 */
export function relyingParty(port: number, sessions: readonly string[], atOnce: number): RelyingParty {
  const connections: Connections = connect(port, atOnce);
  let codes: string[] = [];
  let accessTokens: string[] = [];
  let refreshTokens: string[] = [];
  return {
    authorize(count) {
      const fresh: string[] = [];
      codes = fresh;
      return runCounted(count, atOnce, async (index) => {
        const cookie = sessions[index % sessions.length] ?? '';
        const answer = await connections.send('GET', authorizePath(index), { ...navigation, cookie });
        expect(answer, 303, 'authorize');
        const code = URL.parse(String(answer.headers.location))?.searchParams.get('code');
        if (!code) throw new Error(`authorize led to ${String(answer.headers.location)}`);
        fresh.push(code);
      });
    },
    async exchange() {
      const bodies = codes.map(exchangeBody);
      const answers: string[] = [];
      const ms = await runCounted(bodies.length, atOnce, async (index) => {
        const answer = await connections.send('POST', paths.token, formHeaders, bodies[index]);
        expect(answer, 200, 'token');
        answers.push(answer.text);
      });
      const tokens = answers.map((text) => checked(JSON.parse(text) as Partial<TokenAnswer>, [...claims, 'nonce']));
      accessTokens = tokens.map(({ access_token: token }) => token);
      refreshTokens = tokens.map(({ refresh_token: token }) => token);
      return ms;
    },
    async refresh() {
      const answers: string[] = [];
      const ms = await runCounted(refreshTokens.length, atOnce, async (index) => {
        const fields = { grant_type: 'refresh_token', refresh_token: refreshTokens[index] ?? '' };
        const answer = await connections.send('POST', paths.token, formHeaders, new URLSearchParams(fields).toString());
        expect(answer, 200, 'refresh');
        answers.push(answer.text);
      });
      for (const text of answers) checked(JSON.parse(text) as Partial<TokenAnswer>, claims);
      return ms;
    },
    userinfo(count) {
      return runCounted(count, atOnce, async (index) => {
        const authorization = `Bearer ${accessTokens[index % accessTokens.length]}`;
        const answer = await connections.send('GET', paths.userinfo, { authorization });
        expect(answer, 200, 'userinfo');
        if (!answer.text.includes('"phone_number"')) throw new Error(`userinfo said ${answer.text}`);
      });
    },
    close: () => connections.close(),
  };
}
