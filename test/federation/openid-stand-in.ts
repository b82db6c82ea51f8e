import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import type { StrategySettings } from '../../server/federation/providers.ts';
import { listenOnFreePort } from '../support/foyer.ts';
import { type Begun, begin, finish, providersBy, settingsOf } from './strategies.ts';

/*
 * An OpenID provider whose traits a test chooses: which clients it takes, what its discovery says, how it signs. It asks
 * nobody: `answer` is the address to which it would lead the browser back.
 */

export interface SigningKey {
  kid: string | undefined;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

export interface ReceivedRequest {
  path: string;
  authorization: string | undefined;
  form: URLSearchParams;
}

type Claims = Record<string, unknown>;

interface Traits {
  /** More members of the discovery document. */
  metadata: Claims;
  /** The error word with which a request of the client is refused; undefined: it is taken. */
  refuse: (request: ReceivedRequest) => string | undefined;
  /** The status of a refusal. */
  refusalStatus: number;
  claims: Claims;
  /** The status of its discovery document. */
  discoveryStatus: number;
  key: SigningKey;
  /** The keys that it publishes. */
  keys: JWK[];
  idToken: (claims: Claims, key: SigningKey) => Promise<string>;
}

export interface OpenIdStandIn {
  issuer: string;
  traits: Traits;
  requests: ReceivedRequest[];
  count(path: string): number;
  /** A new signing key, which is published alone. */
  changeKey(alg?: string): Promise<void>;
  answer(begun: Begun): URL;
  /** Writes a file beside PROVIDERS_FILE. @returns its path */
  write(name: string, content: string): string;
  close(): Promise<void>;
}

export async function makeSigningKey(alg = 'RS256', kid: string | undefined = randomUUID()): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), alg, use: 'sig', ...(kid !== undefined && { kid }) };
  return { kid, alg, privateKey, publicJwk };
}

const sign = (claims: Claims, { alg, kid, privateKey }: SigningKey) =>
  new SignJWT(claims).setProtectedHeader({ alg, ...(kid !== undefined && { kid }) }).sign(privateKey);

/** @param client its id */
export async function startOpenIdStandIn(client = 'foyer-at-acme'): Promise<OpenIdStandIn> {
  const requests: ReceivedRequest[] = [];
  const grants = new Map<string, { nonce: string | null; challenge: string | null }>();
  const pushed = new Map<string, URLSearchParams>();
  const folder = mkdtempSync(join(tmpdir(), 'foyer-stand-in-'));
  const key = await makeSigningKey();
  const traits: Traits = {
    metadata: {},
    refuse: () => undefined,
    refusalStatus: 401,
    claims: {},
    discoveryStatus: 200,
    key,
    keys: [key.publicJwk],
    idToken: sign,
  };
  const { server, port } = await listenOnFreePort((req, res) => void respond(req, res));
  const issuer = `http://127.0.0.1:${port}`;
  const send = (res: ServerResponse, body: object, status = 200) =>
    void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  async function tokens(res: ServerResponse, form: URLSearchParams) {
    const code = form.get('code') ?? '';
    const grant = grants.get(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!grant || grant.challenge !== challenge) return send(res, { error: 'invalid_grant' }, 400);
    grants.delete(code);
    const nowS = Math.floor(Date.now() / 1_000);
    const person = { sub: 'ada', email: 'ada@acme.example', email_verified: true, name: 'Ada Lovelace' };
    const times = { iat: nowS, exp: nowS + 300, auth_time: nowS };
    const claims = { iss: issuer, aud: client, nonce: grant.nonce, ...times, ...person, ...traits.claims };
    const idToken = await traits.idToken(claims, traits.key);
    send(res, { access_token: randomUUID(), token_type: 'Bearer', expires_in: 300, id_token: idToken });
  }

  async function respond(req: IncomingMessage, res: ServerResponse) {
    const path = new URL(req.url ?? '/', issuer).pathname;
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const request = { path, authorization: req.headers.authorization, form };
    requests.push(request);
    if (path === '/.well-known/openid-configuration')
      return send(res, discoveryDocument(issuer, traits.metadata), traits.discoveryStatus);
    if (path === '/jwks') return send(res, { keys: traits.keys });
    const word = traits.refuse(request);
    if (word !== undefined) return send(res, { error: word }, traits.refusalStatus);
    if (path === '/token') return tokens(res, form);
    if (path !== '/par') return send(res, { error: 'not_found' }, 404);
    const uri = `urn:ietf:params:oauth:request_uri:${randomUUID()}`;
    pushed.set(uri, form);
    send(res, { request_uri: uri, expires_in: 60 }, 201);
  }

  return {
    issuer,
    traits,
    requests,
    count: (path) => requests.filter((one) => one.path === path).length,
    async changeKey(alg) {
      traits.key = await makeSigningKey(alg);
      traits.keys = [traits.key.publicJwk];
    },
    answer({ id, url }) {
      const asked = pushed.get(url.searchParams.get('request_uri') ?? '') ?? url.searchParams;
      const code = randomUUID();
      grants.set(code, { nonce: asked.get('nonce'), challenge: asked.get('code_challenge') });
      const back = new URL(asked.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code, state: asked.get('state') ?? id, iss: issuer }).toString();
      return back;
    },
    write(name, content) {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
    close: async () => {
      rmSync(folder, { recursive: true, force: true });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const discoveryDocument = (issuer: string, more: Claims) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  scopes_supported: ['openid', 'profile', 'email'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  id_token_signing_alg_values_supported: ['RS256'],
  ...more,
});

let files = 0;

/** PROVIDERS_FILE with this provider alone. @returns its path */
export function writeProvidersFile(standIn: OpenIdStandIn, config: Claims = {}): string {
  files += 1;
  const acme = { kind: 'oidc', id: 'acme-oidc', name: 'Acme', domains: ['acme.example'], issuer: standIn.issuer };
  const json = { providers: [{ ...acme, clientId: 'foyer-at-acme', ...config }] };
  return standIn.write(`providers-${files}.json`, JSON.stringify(json));
}

/** One process of Foyer, which knows this provider alone. */
export function signInsAt(standIn: OpenIdStandIn, config: Claims = {}, more: Partial<StrategySettings> = {}) {
  const provider = providersBy(settingsOf({ PROVIDERS_FILE: writeProvidersFile(standIn, config) }, more))('acme-oidc');
  return {
    provider,
    begin: () => begin(provider),
    async signIn() {
      const begun = await begin(provider);
      return finish(provider, begun, standIn.answer(begun));
    },
  };
}
