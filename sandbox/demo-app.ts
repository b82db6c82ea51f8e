import { randomBytes } from 'node:crypto';
import express, { type Express, type Request, type Response } from 'express';
import * as oidc from 'openid-client';
import { createElement } from 'react';
import {
  createPages,
  detectLanguages,
  hostCookies,
  type PageSettings,
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

export interface DemoAppSettings {
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
const mask = (token: string) => `${token.slice(0, 6)}…${token.slice(-4)}`;

/** Foyer's error (RFC 6749, sections 4.1.2.1 and 5.2), or another failure. */
function toMessage(error: unknown): string {
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError)
    return [error.error, error.error_description].filter(Boolean).join(': ');
  return error instanceof Error ? error.message : String(error);
}

/** A typical client app: code and PKCE with `openid-client`, without anything special to Foyer. */
export function createDemoApp(settings: DemoAppSettings): Express {
  const { issuer, origin, clientId = demoClientId, assets, clientDir, brandName } = settings;
  // As registered: other apps of the tests do not request plans.
  const scope = `openid profile email phone${clientId === demoClientId ? ' membership' : ''}`;
  const cookies = hostCookies(false);
  // Cookies ignore ports: two apps on one host would overwrite each other's.
  const cookieName = `demo_visit_${clientId}`;
  const pages = createPages({
    assets,
    brandName,
    links: {},
    banner: createBanner({ mailbox: issuer + mailboxAddress }),
    extraCss: assets.style(sandboxStylesheet),
  });
  const visits = new Map<string, Visit>();
  let discovered: Promise<oidc.Configuration> | undefined;

  function configuration(): Promise<oidc.Configuration> {
    // Foyer uses plain http on a developer's machine.
    discovered ??= oidc
      .discovery(new URL(issuer), clientId, undefined, oidc.None(), { execute: [oidc.allowInsecureRequests] })
      .catch((error: unknown) => {
        discovered = undefined;
        throw error;
      });
    return discovered;
  }

  function findVisit(req: Request, res: Response): Visit {
    const id = cookies.read(req, cookieName);
    const known = id === undefined ? undefined : visits.get(id);
    if (known) return known;
    const fresh: Visit = { pending: new Map() };
    const newId = randomBytes(16).toString('base64url');
    if (visits.size >= 1_000) visits.delete(visits.keys().next().value ?? '');
    visits.set(newId, fresh);
    cookies.set(res, cookieName, { value: newId });
    return fresh;
  }

  /** Stores tokens, and the current userinfo: a plan may have changed since the last tokens. */
  async function keepAnswer(
    visit: Visit,
    response: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
  ): Promise<void> {
    keepTokens(visit, response);
    const subject = visit.tokens?.claims.sub;
    visit.userinfo = await oidc.fetchUserInfo(await configuration(), response.access_token, String(subject));
  }

  function keepTokens(visit: Visit, response: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers): void {
    const refreshToken = response.refresh_token ?? visit.tokens?.refreshToken;
    visit.tokens = {
      idToken: response.id_token ?? visit.tokens?.idToken ?? '',
      claims: { ...(response.claims() ?? visit.tokens?.claims) },
      accessToken: response.access_token,
      expiresAt: Date.now() + (response.expiresIn() ?? 0) * 1000,
      ...(refreshToken !== undefined && { refreshToken }),
    };
  }

  function show(req: Request, res: Response, visit: Visit, error?: string): void {
    const { tokens, userinfo = {} } = visit;
    const state: DemoAppPageProps['state'] = tokens
      ? {
          kind: 'signed-in',
          idToken: tokens.claims,
          userinfo,
          accessToken: { maskedValue: mask(tokens.accessToken), expiresAt: tokens.expiresAt },
          ...(tokens.refreshToken !== undefined && { refreshToken: { maskedValue: mask(tokens.refreshToken) } }),
          refreshAction: '/refresh',
          signOutAction: '/sign-out',
          ...(error !== undefined && { error }),
        }
      : { kind: 'signed-out', signInHref: '/sign-in', ...(error !== undefined && { error }) };
    pages.send(req, res, error === undefined ? 200 : 400, (ctx) => createElement(DemoAppPage, { ctx, state }), {
      title: (ctx) => textsFor(ctx)('sandbox.demo.name'),
      // Its forms lead through Foyer (sign-out) and back.
      policy: { formAction: [issuer] },
    });
  }

  const app = express();
  detectLanguages(app, cookies);
  app.disable('x-powered-by');
  app.use(securityHeaders({ https: false }));
  app.use('/assets', staticFiles(clientDir));
  app.get('/', (req, res) => show(req, res, findVisit(req, res)));
  app.use(televisionRoutes({ issuer, pages }));
  app.get('/sign-in', async (req, res) => {
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
  });
  app.get('/callback', async (req, res) => {
    const visit = findVisit(req, res);
    const state = new URL(req.originalUrl, origin).searchParams.get('state') ?? '';
    const pending = visit.pending.get(state);
    visit.pending.delete(state);
    try {
      if (!pending) throw new Error('no sign-in is under way in this browser');
      const response = await oidc.authorizationCodeGrant(await configuration(), new URL(req.originalUrl, origin), {
        pkceCodeVerifier: pending.verifier,
        expectedState: state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
      });
      await keepAnswer(visit, response);
      res.redirect(303, '/');
    } catch (error) {
      show(req, res, visit, toMessage(error));
    }
  });
  app.post('/refresh', async (req, res) => {
    const visit = findVisit(req, res);
    try {
      await keepAnswer(visit, await oidc.refreshTokenGrant(await configuration(), visit.tokens?.refreshToken ?? ''));
      res.redirect(303, '/');
    } catch (error) {
      delete visit.tokens;
      show(req, res, visit, toMessage(error));
    }
  });
  app.post('/sign-out', async (req, res) => {
    const visit = findVisit(req, res);
    const idToken = visit.tokens?.idToken;
    delete visit.tokens;
    const address = oidc.buildEndSessionUrl(await configuration(), {
      post_logout_redirect_uri: `${origin}/`,
      ...(idToken !== undefined && { id_token_hint: idToken }),
    });
    res.redirect(303, address.href);
  });
  return app;
}
