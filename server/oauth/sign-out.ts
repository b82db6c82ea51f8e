import type { Request, Response } from 'express';
import type { Client } from 'oidc-provider';
import { createElement } from 'react';
import { SignOutPage } from '../../views/oauth/sign-out-page.tsx';
import { field, query, sendGoingOnPage } from '../http/index.ts';
import { currentSession } from '../session/index.ts';
import type { Handler, OauthDeps } from './deps.ts';

/** What a sign-out was asked with (the specification's logout redirect info; OIDC RP-Initiated Logout 1.0, section 2). */
export interface EndSessionRequest {
  clientId: string;
  logoutUri: string;
  state: string;
}

export interface VerifiedEndSession {
  client?: Client | undefined;
  /** Set only when it is registered for the client, with `state` added. */
  returnTo?: string | undefined;
}

/** Looks up the client and its logout address: compared exactly, as registered. */
export async function verifyEndSession(
  deps: OauthDeps,
  { clientId, logoutUri, state }: EndSessionRequest,
): Promise<VerifiedEndSession> {
  const client = clientId === '' ? undefined : await deps.provider().Client.find(clientId);
  if (!client) return {};
  if (logoutUri === '' || !client.postLogoutRedirectUriAllowed(logoutUri)) return { client };
  const url = new URL(logoutUri);
  if (state !== '') url.searchParams.set('state', state);
  return { client, returnTo: url.href };
}

/** The origins at home with a client: those of the addresses it registered. */
function clientOrigins(client: Client): Set<string> {
  const uris = [...(client.redirectUris ?? []), ...(client.postLogoutRedirectUris ?? [])];
  return new Set(uris.flatMap((uri) => URL.parse(uri)?.origin ?? []).filter((origin) => origin !== 'null'));
}

/**
 * Whether a GET may sign out at once: only when it comes from this site, or from the origin of the registered client that
 * it names (`security.md`, rule 12). Anybody can write a link; a browser that prefetches has not been asked to do anything.
 */
export function mayActAtOnce(
  headers: { site?: string | undefined; referer?: string | undefined; purpose?: string | undefined },
  publicUrl: string,
  client: Client | undefined,
): boolean {
  if (headers.purpose?.includes('prefetch')) return false;
  const from = headers.referer === undefined ? undefined : URL.parse(headers.referer)?.origin;
  if (headers.site !== undefined ? headers.site === 'same-origin' : from === new URL(publicUrl).origin) return true;
  return client !== undefined && from !== undefined && clientOrigins(client).has(from);
}

/** What a browser says that it fetches ahead for: today's header and its forerunners. */
export function purposeOf(req: Request): string {
  return ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].map((name) => req.headers[name] ?? '').join(' ');
}

/**
 * Ends the session of this browser, and says where it goes on: to the provider by which the member came, where that one has
 * a single logout, else to the client app or home.
 *
 * To a provider (`providerName`) never by a redirect, but by a page that goes on: a client app may have come here by a form,
 * whose policy (`form-action`) knows this site and no provider, and browsers apply it to the whole chain.
 */
export async function signOutHere(
  { sessions, providersOut, log }: OauthDeps,
  req: Request,
  res: Response,
  returnTo: string | undefined,
): Promise<{ address: string; providerName?: string | undefined }> {
  const upstream = currentSession(req)?.upstream;
  await sessions.end(req, res);
  if (!upstream) return { address: returnTo ?? '/' };
  try {
    return await providersOut.wayOut(upstream, returnTo);
  } catch (error) {
    // Signed out here they are; nothing there may keep them from hearing of it.
    log.warn({ err: error, provider: upstream.provider }, 'could not lead to a single logout');
    return { address: returnTo ?? '/' };
  }
}

export async function sendSignOutPage(
  deps: OauthDeps,
  req: Request,
  res: Response,
  request: EndSessionRequest,
  client: Client | undefined,
): Promise<void> {
  const member = await deps.sessions.member(req);
  const upstream = member?.session.upstream && deps.providersOut.endsThere(member.session.upstream);
  const fields: Record<string, string> = {};
  if (request.clientId !== '') fields.client_id = request.clientId;
  if (request.logoutUri !== '') fields.logout_uri = request.logoutUri;
  if (request.state !== '') fields.state = request.state;
  deps.pages.send(
    req,
    res,
    200,
    (ctx) =>
      createElement(SignOutPage, {
        ctx,
        action: '/logout',
        fields,
        ...(client && { clientName: client.clientName ?? client.clientId }),
        ...(member && { memberEmail: member.user.email }),
        ...(upstream && { upstream }),
      }),
    { title: (ctx) => ctx.t('oauth.signOut.title') },
  );
}

/** GET /logout: acts at once where that is safe, else asks with one button. */
export function askSignOut(deps: OauthDeps): Handler {
  return async (req, res) => {
    const request = {
      clientId: query(req, 'client_id') ?? '',
      logoutUri: query(req, 'logout_uri') ?? '',
      state: query(req, 'state') ?? '',
    };
    const { client, returnTo } = await verifyEndSession(deps, request);
    const headers = { site: req.get('sec-fetch-site'), referer: req.get('referer'), purpose: purposeOf(req) };
    const signedIn = (await deps.sessions.member(req)) !== undefined;
    if (signedIn && !mayActAtOnce(headers, deps.publicUrl, client))
      return sendSignOutPage(deps, req, res, request, client);
    const { address, providerName } = await signOutHere(deps, req, res, returnTo);
    if (providerName === undefined) return res.redirect(303, address);
    sendGoingOnPage(deps.pages, req, res, address, { providerName });
  };
}

/** POST /logout: the header's form, and the button of the page above. */
export function signOut(deps: OauthDeps): Handler {
  return async (req, res) => {
    const request = {
      clientId: field(req, 'client_id'),
      logoutUri: field(req, 'logout_uri'),
      state: field(req, 'state'),
    };
    const { client, returnTo } = await verifyEndSession(deps, request);
    const { address, providerName } = await signOutHere(deps, req, res, returnTo);
    if (address.startsWith('/')) return res.redirect(303, address);
    const to = providerName === undefined ? client?.clientName : { providerName };
    sendGoingOnPage(deps.pages, req, res, address, to);
  };
}
