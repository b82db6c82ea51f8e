import type { Request, Response } from 'express';
import type { Client } from 'oidc-provider';
import { createElement } from 'react';
import { SignOutPage } from '../../views/oidc/sign-out-page.tsx';
import { renderRedirectPage } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import type { Handler, OauthDeps } from './deps.ts';
import {
  postedSignOut,
  type SignOutRequest,
  signOutRequest,
  type VerifiedSignOut,
  verifySignOut,
} from './sign-out-request.ts';

/** Shows the same question as `/logout`, and never acts. */
export const questionPath = '/sign-out';

/** The client's own origins: those of its registered addresses. */
function clientOrigins(client: Client): Set<string> {
  const uris = [...(client.redirectUris ?? []), ...(client.postLogoutRedirectUris ?? [])];
  return new Set(uris.flatMap((uri) => URL.parse(uri)?.origin ?? []).filter((origin) => origin !== 'null'));
}

/** The browser's metadata of a request: its origin and purpose. */
export interface FetchMetadata {
  site?: string | undefined;
  dest?: string | undefined;
  referer?: string | undefined;
  purpose?: string | undefined;
}

/**
 * Tests whether a GET may sign out at once: only a navigation, from this site, or from the origin of the registered
 * client that it names (`security.md`, rule 12). Anyone can write a link; a prefetch is no request of the user; and
 * visitors of a client app's site may put pictures and frames on its pages.
 */
export function canSignOutDirectly(submitted: FetchMetadata, publicUrl: string, client: Client | undefined): boolean {
  if (submitted.purpose?.includes('prefetch')) return false;
  if (submitted.dest !== undefined && submitted.dest !== 'document') return false;
  const from = submitted.referer === undefined ? undefined : URL.parse(submitted.referer)?.origin;
  if (submitted.site !== undefined ? submitted.site === 'same-origin' : from === new URL(publicUrl).origin) return true;
  return client !== undefined && from !== undefined && clientOrigins(client).has(from);
}

/** The purpose of a prefetch: the current header and its predecessors. */
export function readPurpose(req: Request): string {
  return ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].map((name) => req.headers[name] ?? '').join(' ');
}

/**
 * Ends the session of this browser and returns the next address: the provider of the sign-in if it has single logout,
 * else the client app or home.
 * To a provider (`providerName`) never by a redirect, but by a page that redirects by itself: a client app may have
 * come here by a form, whose policy (`form-action`) allows this site and no provider, and browsers apply it to the
 * whole chain.
 */
export async function signOutLocally(
  { sessions, providersOut, log }: OauthDeps,
  req: Request,
  res: Response,
  returnTo: string | undefined,
): Promise<{ address: string; providerName?: string | undefined }> {
  const upstream = getCurrentSession(req)?.upstream;
  await sessions.end(req, res);
  if (!upstream) return { address: returnTo ?? '/' };
  try {
    return await providersOut.upstreamLogoutUrl(upstream, returnTo);
  } catch (error) {
    // The user is signed out here; an error at the provider must not hide that.
    log.warn({ err: error, provider: upstream.provider }, 'could not start a single logout');
    return { address: returnTo ?? '/' };
  }
}

const withQuery = (path: string, request: SignOutRequest) =>
  Object.keys(request).length === 0 ? path : `${path}?${new URLSearchParams(request)}`;

/** Asks with one button, which passes on all parameters of the sign-out. */
export async function sendSignOutPage(
  deps: OauthDeps,
  req: Request,
  res: Response,
  request: SignOutRequest,
  { client, switches }: Pick<VerifiedSignOut, 'client' | 'switches'>,
): Promise<void> {
  const member = await deps.sessions.getCurrentUser(req);
  const upstream = member?.session.upstream && deps.providersOut.endsAtProvider(member.session.upstream);
  deps.pages.send(
    req,
    res,
    200,
    (ctx) =>
      createElement(SignOutPage, {
        ctx,
        action: '/logout',
        fields: request,
        ...(client && { clientName: client.clientName ?? client.clientId }),
        ...(switches && { switches }),
        ...(member && { memberEmail: member.user.email }),
        ...(upstream && { upstream }),
      }),
    // The return address of the language form: never one that acts (`security.md`, rule 10).
    { title: (ctx) => ctx.t('oauth.signOut.title'), address: withQuery(questionPath, request) },
  );
}

/** GET /sign-out: only the question, from any place. */
export function signOutQuestion(deps: OauthDeps): Handler {
  return async (req, res) => {
    const request = signOutRequest(req.query);
    if (!(await deps.sessions.getCurrentUser(req))) return res.redirect(303, withQuery('/logout', request));
    await sendSignOutPage(deps, req, res, request, await verifySignOut(deps, request));
  };
}

/** GET /logout: acts at once if that is safe, else asks with one button. */
export function renderSignOutQuestion(deps: OauthDeps): Handler {
  return async (req, res) => {
    const request = signOutRequest(req.query);
    const verified = await verifySignOut(deps, request);
    const noticeName = {
      site: req.get('sec-fetch-site'),
      dest: req.get('sec-fetch-dest'),
      referer: req.get('referer'),
      purpose: readPurpose(req),
    };
    const signedIn = (await deps.sessions.getCurrentUser(req)) !== undefined;
    const acts = req.method === 'GET' && canSignOutDirectly(noticeName, deps.publicUrl, verified.client);
    if (signedIn && !acts) return sendSignOutPage(deps, req, res, request, verified);
    const { address, providerName } = await signOutLocally(deps, req, res, verified.returnTo);
    if (providerName === undefined) return res.redirect(303, address);
    renderRedirectPage(deps.pages, req, res, address, { providerName });
  };
}

/** POST /logout: the header's form, and the button of the page above. */
export function signOut(deps: OauthDeps): Handler {
  return async (req, res) => {
    const { client, returnTo } = await verifySignOut(deps, postedSignOut(req));
    const { address, providerName } = await signOutLocally(deps, req, res, returnTo);
    if (address.startsWith('/')) return res.redirect(303, address);
    const to = providerName === undefined ? client?.clientName : { providerName };
    renderRedirectPage(deps.pages, req, res, address, to);
  };
}
