import type { Request } from 'express';
import type { Client } from 'oidc-provider';
import { SignOutPage } from '../../views/oidc/sign-out-page.tsx';
import { AddressWithNotice, type RequestContext, toAddress } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import type { OidcDeps } from './deps.ts';
import {
  postedSignOut,
  type SignOutRequest,
  signOutRequest,
  toRequester,
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
interface FetchMetadata {
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
function canSignOutDirectly(submitted: FetchMetadata, publicUrl: string, client: Client | undefined): boolean {
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
  r: RequestContext,
  { sessions, providersOut }: OidcDeps,
  { client, returnTo }: Pick<VerifiedSignOut, 'client' | 'returnTo'>,
): Promise<{ address: string; providerName?: string | undefined }> {
  const upstream = getCurrentSession(r.req)?.upstream;
  await sessions.end(r, toRequester(client));
  if (!upstream) return { address: returnTo ?? '/' };
  try {
    const { next, providerName } = await providersOut.upstreamLogoutUrl(upstream, returnTo);
    if (next instanceof AddressWithNotice) r.announce(next.notice);
    return { address: toAddress(next), providerName };
  } catch (error) {
    // The user is signed out here; an error at the provider must not hide that.
    r.log.warn({ err: error, provider: upstream.provider }, 'could not start a single logout');
    return { address: returnTo ?? '/' };
  }
}

const withQuery = (path: string, request: SignOutRequest) =>
  Object.keys(request).length === 0 ? path : `${path}?${new URLSearchParams(request)}`;

/** The question of a page: the parameters of the sign-out, and the client app that requests it. */
interface SignOutQuestion extends Pick<VerifiedSignOut, 'client' | 'switches'> {
  request: SignOutRequest;
  fromUnknownApp?: boolean;
}

/** Asks with one button, which passes on all parameters of the sign-out. */
export async function renderSignOutPage(
  r: RequestContext,
  deps: OidcDeps,
  { request, client, fromUnknownApp, switches }: SignOutQuestion,
): Promise<void> {
  const found = await deps.sessions.getCurrentUser(r.req);
  const upstream = found?.session.upstream && deps.providersOut.endsAtProvider(found.session.upstream);
  r.render(
    SignOutPage,
    {
      action: '/logout',
      fields: request,
      ...(client && { clientName: client.clientName ?? client.clientId }),
      ...(fromUnknownApp && { fromUnknownApp }),
      ...(switches && { switches }),
      ...(found && { memberEmail: found.user.email }),
      ...(upstream && { upstream }),
    },
    // The return address of the language form: never one that acts (`security.md`, rule 10).
    { title: 'oauth.signOut.title', address: withQuery(questionPath, request) },
  );
}

/** GET /sign-out: only the question, from any place. */
export async function askSignOut(r: RequestContext, deps: OidcDeps): Promise<void> {
  const request = signOutRequest(r.req.query);
  if (!(await deps.sessions.getCurrentUser(r.req))) return r.redirect(withQuery('/logout', request));
  await renderSignOutPage(r, deps, { request, ...(await verifySignOut(deps, request)) });
}

const readFetchMetadata = (req: Request): FetchMetadata => ({
  site: req.get('sec-fetch-site'),
  dest: req.get('sec-fetch-dest'),
  referer: req.get('referer'),
  purpose: readPurpose(req),
});

/** GET /logout: acts at once if that is safe, else asks with one button. */
export async function signOutOrAsk(r: RequestContext, deps: OidcDeps): Promise<void> {
  const request = signOutRequest(r.req.query);
  const verified = await verifySignOut(deps, request);
  const signedIn = (await deps.sessions.getCurrentUser(r.req)) !== undefined;
  const acts = r.req.method === 'GET' && canSignOutDirectly(readFetchMetadata(r.req), deps.publicUrl, verified.client);
  if (signedIn && !acts) return renderSignOutPage(r, deps, { request, ...verified });
  const { address, providerName } = await signOutLocally(r, deps, verified);
  // No form precedes a GET, so a redirect reaches the client app.
  if (providerName === undefined) return r.redirect(address);
  r.redirectAway(address, { providerName });
}

/** POST /logout: the header's form, and the button of the page above. */
export async function signOut(r: RequestContext, deps: OidcDeps): Promise<void> {
  const { client, returnTo } = await verifySignOut(deps, postedSignOut(r));
  const { address, providerName } = await signOutLocally(r, deps, { client, returnTo });
  if (address.startsWith('/')) return r.redirect(address);
  r.redirectAway(address, providerName === undefined ? client?.clientName : { providerName });
}
