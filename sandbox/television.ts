import { type Request, type Response, Router } from 'express';
import * as oidc from 'openid-client';
import { createElement } from 'react';
import { qrCode } from '../server/account/index.ts';
import type { Pages } from '../server/http/index.ts';
import { televisionClientId } from './seed.ts';
import { televisionPath as address } from './television-path.ts';
import { textsFor } from './texts.ts';
import { TelevisionPage, type TelevisionPageProps } from './views/television-page.tsx';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
/** Slightly longer than Foyer demands (RFC 8628, section 3.5). */
const pollSeconds = 6;
/** All visitors share one television: its state is in this process, not in a browser. */
type Screen = TelevisionPageProps['screen'];

interface TelevisionSettings {
  issuer: string;
  pages: Pages;
}

const toErrorCode = (error: unknown): string =>
  error instanceof oidc.ResponseBodyError ? error.error : error instanceof Error ? error.message : String(error);

/**
 * A page that simulates a device without a browser: it requests a code, shows it, and polls whether the user has
 * agreed, with `openid-client` and without anything special to Foyer.
 */
export function televisionRoutes({ issuer, pages }: TelevisionSettings): Router {
  let screen: Screen = { kind: 'off' };
  let deviceCode = '';

  const configuration = () =>
    oidc.discovery(new URL(issuer), televisionClientId, undefined, oidc.None(), {
      // Foyer uses plain http on a developer's machine.
      execute: [oidc.allowInsecureRequests],
    });

  async function poll(): Promise<Screen> {
    if (screen.kind !== 'waiting') return screen;
    try {
      const known = await configuration();
      const tokens = await oidc.genericGrantRequest(known, deviceGrant, { device_code: deviceCode });
      const subject = tokens.claims()?.sub ?? oidc.skipSubjectCheck;
      const { name, email, sub } = await oidc.fetchUserInfo(known, tokens.access_token, subject);
      return { kind: 'signed-in', name: name ?? email ?? sub };
    } catch (error) {
      const code = toErrorCode(error);
      return code === 'authorization_pending' || code === 'slow_down' ? screen : { kind: 'off', error: code };
    }
  }

  async function requestCode(): Promise<Screen> {
    try {
      const authorization = await oidc.initiateDeviceAuthorization(await configuration(), {
        scope: 'openid profile email',
      });
      deviceCode = authorization.device_code;
      const { user_code: userCode, verification_uri: href, verification_uri_complete: complete = href } = authorization;
      return { kind: 'waiting', userCode, href, complete, qr: qrCode(complete) };
    } catch (error) {
      return { kind: 'off', error: toErrorCode(error) };
    }
  }

  const router = Router();
  router.get(address, async (req: Request, res: Response) => {
    screen = await poll();
    const current = screen;
    // Once: the next visit starts again.
    if (screen.kind === 'off') screen = { kind: 'off' };
    if (current.kind === 'waiting') res.setHeader('Refresh', String(pollSeconds));
    pages.send({ req, res }, (ctx) => createElement(TelevisionPage, { ctx, action: address, screen: current }), {
      title: (ctx) => textsFor(ctx)('sandbox.television.name'),
    });
  });
  router.post(address, async (_req, res) => {
    screen = screen.kind === 'signed-in' ? { kind: 'off' } : await requestCode();
    res.redirect(303, address);
  });
  return router;
}
