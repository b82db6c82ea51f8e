import { randomBytes } from 'node:crypto';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import * as oidc from 'openid-client';
import { createElement } from 'react';
import {
  createPages,
  detectLanguages,
  type HostCookies,
  type HttpExchange,
  hostCookies,
  type PageSettings,
  type Pages,
  securityHeaders,
  staticFiles,
} from '../server/http/index.ts';
import { sandboxStylesheet } from './extensions.ts';
import { mailboxAddress } from './mail-routes.ts';
import { demoClientId } from './seed.ts';
import { televisionRoutes } from './television.ts';
import { textsFor } from './texts.ts';
import { createBanner } from './views/banner.tsx';
import { DemoAppPage, type DemoAppPageProps } from './views/demo-app-page.tsx';
import { overviewAddress } from './views/places.ts';

interface Visit {
  /** The expected values of pending sign-ins, by state: each tab may have its own. */
  pending: Map<string, { nonce: string; verifier: string }>;
  tokens?: {
    idToken: string;
    claims: Record<string, unknown>;
    accessToken: string;
    refreshToken?: string;
    expiresAt: number;
  };
  userinfo?: Record<string, unknown>;
}

interface DemoAppSettings {
  /** Foyer's address. */
  issuer: string;
  /** The demo app's own: another site than Foyer's, or faults of cookies and policies would stay hidden. */
  origin: string;
  /** Its client id; by default the demo client's. */
  clientId?: string;
  assets: PageSettings['assets'];
  clientDir: string;
  brandName: string;
}

const maxPending = 20;
const maxVisits = 1_000;
const mask = (token: string) => `${token.slice(0, 6)}…${token.slice(-4)}`;

/** Foyer's error (RFC 6749, sections 4.1.2.1 and 5.2), or another failure. */
function toMessage(error: unknown): string {
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError)
    return [error.error, error.error_description].filter(Boolean).join(': ');
  return error instanceof Error ? error.message : String(error);
}

type Tokens = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers;

interface DemoApp {
  issuer: string;
  origin: string;
  scope: string;
  pages: Pages;
  /** Foyer's metadata, for `openid-client`. */
  configuration(): Promise<oidc.Configuration>;
  findVisit(req: Request, res: Response): Visit;
}

/** Requests Foyer's metadata once; after a failure again. */
function createConfiguration(issuer: string, clientId: string): DemoApp['configuration'] {
  let discovered: Promise<oidc.Configuration> | undefined;
  return () => {
    // Foyer uses plain http on a developer's machine.
    discovered ??= oidc
      .discovery(new URL(issuer), clientId, undefined, oidc.None(), { execute: [oidc.allowInsecureRequests] })
      .catch((error: unknown) => {
        discovered = undefined;
        throw error;
      });
    return discovered;
  };
}

function createVisits(cookies: HostCookies, cookieName: string): DemoApp['findVisit'] {
  const visits = new Map<string, Visit>();
  return (req, res) => {
    const id = cookies.read(req, cookieName);
    const known = id === undefined ? undefined : visits.get(id);
    if (known) return known;
    const visit: Visit = { pending: new Map() };
    const newId = randomBytes(16).toString('base64url');
    if (visits.size >= maxVisits) visits.delete(visits.keys().next().value ?? '');
    visits.set(newId, visit);
    cookies.set(res, cookieName, { value: newId });
    return visit;
  };
}

function storeTokens(visit: Visit, tokens: Tokens): void {
  const refreshToken = tokens.refresh_token ?? visit.tokens?.refreshToken;
  visit.tokens = {
    idToken: tokens.id_token ?? visit.tokens?.idToken ?? '',
    claims: { ...(tokens.claims() ?? visit.tokens?.claims) },
    accessToken: tokens.access_token,
    expiresAt: Date.now() + (tokens.expiresIn() ?? 0) * 1000,
    ...(refreshToken !== undefined && { refreshToken }),
  };
}

/** Stores tokens, and the current userinfo: a plan may have changed since the last tokens. */
async function storeAnswer({ configuration }: DemoApp, visit: Visit, tokens: Tokens): Promise<void> {
  storeTokens(visit, tokens);
  const subject = visit.tokens?.claims.sub;
  visit.userinfo = await oidc.fetchUserInfo(await configuration(), tokens.access_token, String(subject));
}

function toPageState({ tokens, userinfo = {} }: Visit, error: string | undefined): DemoAppPageProps['state'] {
  if (!tokens) return { kind: 'signed-out', signInHref: '/sign-in', ...(error !== undefined && { error }) };
  return {
    kind: 'signed-in',
    idToken: tokens.claims,
    userinfo,
    accessToken: { maskedValue: mask(tokens.accessToken), expiresAt: tokens.expiresAt },
    ...(tokens.refreshToken !== undefined && { refreshToken: { maskedValue: mask(tokens.refreshToken) } }),
    refreshAction: '/refresh',
    signOutAction: '/sign-out',
    ...(error !== undefined && { error }),
  };
}

/** The page of one visit, with an error message after a failure. */
function sendVisit(
  { issuer, pages }: DemoApp,
  { req, res }: HttpExchange,
  page: { visit: Visit; error?: string },
): void {
  const { visit, error } = page;
  const state = toPageState(visit, error);
  pages.send({ req, res }, (ctx) => createElement(DemoAppPage, { ctx, state }), {
    status: error === undefined ? 200 : 400,
    title: (ctx) => textsFor(ctx)('sandbox.demo.name'),
    // Its forms lead through Foyer (sign-out) and back.
    policy: { formAction: [issuer] },
  });
}

function startSignIn({ origin, scope, configuration, findVisit }: DemoApp): RequestHandler {
  return async (req, res) => {
    const verifier = oidc.randomPKCECodeVerifier();
    const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
    const { pending } = findVisit(req, res);
    if (pending.size >= maxPending) pending.delete(pending.keys().next().value ?? '');
    pending.set(state, { nonce, verifier });
    const address = oidc.buildAuthorizationUrl(await configuration(), {
      redirect_uri: `${origin}/callback`,
      scope,
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    res.redirect(303, address.href);
  };
}

function completeSignIn(demo: DemoApp): RequestHandler {
  const { origin, configuration, findVisit } = demo;
  return async (req, res) => {
    const visit = findVisit(req, res);
    const state = new URL(req.originalUrl, origin).searchParams.get('state') ?? '';
    const pending = visit.pending.get(state);
    visit.pending.delete(state);
    try {
      if (!pending) throw new Error('no sign-in is under way in this browser');
      const tokens = await oidc.authorizationCodeGrant(await configuration(), new URL(req.originalUrl, origin), {
        pkceCodeVerifier: pending.verifier,
        expectedState: state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
      });
      await storeAnswer(demo, visit, tokens);
      res.redirect(303, '/');
    } catch (error) {
      sendVisit(demo, { req, res }, { visit, error: toMessage(error) });
    }
  };
}

function refreshTokens(demo: DemoApp): RequestHandler {
  const { configuration, findVisit } = demo;
  return async (req, res) => {
    const visit = findVisit(req, res);
    try {
      const tokens = await oidc.refreshTokenGrant(await configuration(), visit.tokens?.refreshToken ?? '');
      await storeAnswer(demo, visit, tokens);
      res.redirect(303, '/');
    } catch (error) {
      delete visit.tokens;
      sendVisit(demo, { req, res }, { visit, error: toMessage(error) });
    }
  };
}

function signOut({ origin, configuration, findVisit }: DemoApp): RequestHandler {
  return async (req, res) => {
    const visit = findVisit(req, res);
    const idToken = visit.tokens?.idToken;
    delete visit.tokens;
    const address = oidc.buildEndSessionUrl(await configuration(), {
      post_logout_redirect_uri: `${origin}/`,
      ...(idToken !== undefined && { id_token_hint: idToken }),
    });
    res.redirect(303, address.href);
  };
}

/** A typical client app: code and PKCE with `openid-client`, without anything special to Foyer. */
export function createDemoApp(settings: DemoAppSettings): Express {
  const { issuer, origin, clientId = demoClientId, assets, clientDir, brandName } = settings;
  const cookies = hostCookies(false);
  const pages = createPages({
    assets,
    brandName,
    links: {},
    banner: createBanner({ places: { mailbox: issuer + mailboxAddress }, overview: issuer + overviewAddress }),
    extraCss: assets.style(sandboxStylesheet),
  });
  const demo: DemoApp = {
    issuer,
    origin,
    // As registered: other apps of the tests do not request plans.
    scope: `openid profile email phone${clientId === demoClientId ? ' membership' : ''}`,
    pages,
    configuration: createConfiguration(issuer, clientId),
    // Cookies ignore ports: two apps on one host would overwrite each other's.
    findVisit: createVisits(cookies, `demo_visit_${clientId}`),
  };
  const app = express();
  detectLanguages(app, cookies);
  app.disable('x-powered-by');
  app.use(securityHeaders({ https: false }));
  app.use('/assets', staticFiles(clientDir));
  app.get('/', (req, res) => sendVisit(demo, { req, res }, { visit: demo.findVisit(req, res) }));
  app.use(televisionRoutes({ issuer, pages }));
  app.get('/sign-in', startSignIn(demo));
  app.get('/callback', completeSignIn(demo));
  app.post('/refresh', refreshTokens(demo));
  app.post('/sign-out', signOut(demo));
  return app;
}
