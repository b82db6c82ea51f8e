import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';
import type { ClientRequest } from '../../server/oidc/index.ts';
import type { User } from '../../server/users/index.ts';
import type { Browser } from './browser.ts';
import type { TestFoyer } from './foyer.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from './relying-party.ts';

/** A request as the client app received it. */
export interface Told {
  method: string;
  type: string;
  token: string;
}

export interface ToldApp {
  id: string;
  secret: string | null;
  redirectUri: string;
  client: RelyingParty;
  /** Its address. */
  address: string;
  /** All posts so far, the oldest first. */
  told: Told[];
  /** Its answers from now on; 200 by default. */
  answer(by: (req: IncomingMessage, res: ServerResponse) => void): void;
  /** Signs a user in; returns the tokens. */
  tokens(browser: Browser, user: User): Promise<Tokens>;
  /** Lets Foyer deliver the waiting messages; returns the `sid` of every verified token since the last call. */
  heard(): Promise<string[]>;
  /** Verifies a logout token according to section 2.6 of OpenID Connect Back-Channel Logout 1.0. */
  check(token: string): Promise<JWTVerifyResult<JWTPayload>>;
  close(): Promise<void>;
}

export const sidOf = (tokens: Tokens) => tokens.claims()?.sid as string;
const event = 'http://schemas.openid.net/event/backchannel-logout';

async function bodyOf(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** A typical client app that listens for logout tokens. */
export async function toldApp(foyer: TestFoyer, request: Partial<ClientRequest> = {}): Promise<ToldApp> {
  const told: Told[] = [];
  let answer = (_req: IncomingMessage, res: ServerResponse): void => void res.writeHead(200).end();
  const server = createServer(async (req, res) => {
    const token = new URLSearchParams(await bodyOf(req)).get('logout_token') ?? '';
    told.push({ method: req.method ?? '', type: req.headers['content-type'] ?? '', token });
    answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/backchannel`;
  const registered = await foyer.addClient({ backchannelLogoutUri: address, idTokenAlg: 'ES256', ...request });
  const client = await relyingParty(foyer, registered);
  const keys = createRemoteJWKSet(new URL(client.config.serverMetadata().jwks_uri ?? ''), { cooldownDuration: 0 });
  const check = (token: string) =>
    jwtVerify(token, keys, {
      issuer: foyer.url,
      audience: client.id,
      typ: 'logout+jwt',
      algorithms: [request.idTokenAlg ?? 'ES256'],
      requiredClaims: ['sub', 'iat', 'exp', 'jti', 'events'],
      currentDate: new Date(foyer.deps.now()),
    });
  let seen = 0;
  return {
    ...registered,
    client,
    address,
    told,
    check,
    answer(by) {
      answer = by;
    },
    tokens: (browser, user) => tokensFor(client, browser, user),
    async heard() {
      await foyer.deps.outboxWorker.turn();
      const fresh = told.slice(seen);
      seen = told.length;
      const checked = await Promise.all(fresh.map(({ token }) => check(token)));
      for (const { payload } of checked) {
        if (JSON.stringify(payload.events) !== `{"${event}":{}}`) throw new Error('not the event of a logout');
        if ('nonce' in payload) throw new Error('a nonce must not be there');
      }
      return checked.map(({ payload }) => String(payload.sid)).toSorted();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
