/**
 * The baseline: the same library on Node's own server, without Express, with a Map. Algorithms, claims, PKCE, cookies,
 * lifetimes and refresh tokens are those of Foyer, so that both do the same protocol work.
 */
import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Provider, { type JWK } from 'oidc-provider';
import { serve } from '../rpc.ts';
import { client, host, type Listening, memberEmail, paths, publicUrl, redirectUri, scope, usage } from '../setting.ts';
import { listen } from './listen.ts';
import { MapAdapter } from './map-adapter.ts';

const sessionCookie = '__Host-op';
const hourSeconds = 60 * 60;
const daySeconds = 24 * hourSeconds;

function signingKeys(): JWK[] {
  const { privateKey: ec } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return [
    { ...(ec.export({ format: 'jwk' }) as JWK), kid: 'ec', alg: 'ES256', use: 'sig' },
    { ...(rsa.export({ format: 'jwk' }) as JWK), kid: 'rsa', alg: 'RS256', use: 'sig' },
  ];
}

interface Member {
  sub: string;
  [claim: string]: string | number | boolean;
}

function makeMember(index: number): Member {
  return {
    sub: `018f0000-0000-7000-8000-${String(index).padStart(12, '0')}`,
    name: `Ada Member${index}`,
    given_name: 'Ada',
    family_name: `Member${index}`,
    locale: 'en',
    updated_at: 1_750_000_000,
    email: memberEmail(index),
    email_verified: true,
    phone_number: `+4915550${100_000 + index}`,
    phone_number_verified: true,
  };
}

function makeProvider(members: ReadonlyMap<string, Member>): Provider {
  const cookie = { httpOnly: true, sameSite: 'lax' as const, secure: true, signed: true, path: '/' };
  const provider = new Provider(publicUrl, {
    adapter: MapAdapter,
    jwks: { keys: signingKeys() },
    routes: paths,
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        scope,
        token_endpoint_auth_method: 'client_secret_basic',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    cookies: {
      keys: ['a key of the load tests alone'],
      names: { session: sessionCookie },
      long: cookie,
      short: cookie,
    },
    scopes: scope.split(' '),
    claims: {
      openid: ['sub', 'auth_time', 'amr'],
      profile: ['name', 'given_name', 'family_name', 'picture', 'locale', 'updated_at'],
      email: ['email', 'email_verified'],
      phone: ['phone_number', 'phone_number_verified'],
    },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false }, dPoP: { enabled: false }, resourceIndicators: { enabled: false } },
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, registered) => registered.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: false,
    findAccount: (_ctx, sub) => {
      const claims = members.get(sub);
      return claims && { accountId: sub, claims: () => claims };
    },
    ttl: {
      AccessToken: hourSeconds,
      AuthorizationCode: 60,
      IdToken: hourSeconds,
      Interaction: hourSeconds,
      RefreshToken: 14 * daySeconds,
      Session: daySeconds,
      Grant: 30 * daySeconds,
    },
  });
  provider.proxy = true;
  return provider;
}

/** A signed-in browser with a grant for the client, as after a sign-in at Foyer. */
async function signIn(provider: Provider, accountId: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const ctx = provider.createContext(req, res);
  const grant = new provider.Grant({ accountId, clientId: client.id });
  grant.addOIDCScope(scope);
  const grantId = await grant.save();
  const session = new provider.Session();
  session.loginAccount({ accountId, loginTs: Math.floor(Date.now() / 1000), amr: ['pwd'], transient: true });
  session.ensureClientContainer(client.id);
  session.authorizationFor(client.id).grantId = grantId;
  await session.save(daySeconds);
  ctx.cookies.set(sessionCookie, session.jti, {
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure: true,
    signed: true,
  });
  res.statusCode = 303;
  res.end();
}

function start({ members: count }: { members: number }): Promise<Listening> {
  const all = Array.from({ length: count }, (_, index) => makeMember(index));
  const provider = makeProvider(new Map(all.map((member) => [member.sub, member])));
  const callback = provider.callback();
  return listen((req, res) => {
    const index = /^\/bench-session\/(\d+)$/.exec(req.url ?? '')?.[1];
    const sub = index === undefined ? undefined : all[Number(index)]?.sub;
    if (sub === undefined) return callback(req, res);
    if (req.headers.host !== host) throw new Error('a foreign host');
    signIn(provider, sub, req, res).catch((error: unknown) => res.writeHead(500).end(String(error)));
  });
}

const handlers = { start, usage };
export type BareProvider = typeof handlers;
serve(handlers);
