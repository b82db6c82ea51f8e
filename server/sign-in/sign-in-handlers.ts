import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { SignInPage } from '../../views/sign-in/sign-in-page.tsx';
import { noticeText, type Provider, readNotice, toProviderButtons } from '../federation/index.ts';
import {
  type Continuation,
  continuationFrom,
  continuationFromQuery,
  HttpError,
  readQueryParam,
  renderRedirectPage,
  withContinuation,
} from '../http/index.ts';
import { isSignedOutElsewhere } from '../sessions/index.ts';
import { challengeExpiredNotice } from './current-challenge.ts';
import type { SignInDeps } from './deps.ts';
import { providerAskedFor, sendOneProviderPage } from './one-provider.ts';
import { passkeyRequestOptions } from './passkey-options.ts';

export interface SignInPageState {
  values?: { username: string; remember: boolean };
  errors?: { username?: string; password?: string; form?: string };
  /** The password has just been reset. */
  isReset?: boolean;
  /** The result of an attempt at a provider. */
  providerNotice?: { kind: 'error' | 'info'; text: string } | undefined;
  /** A provider whose button would lead back to this page. */
  hiddenProvider?: Provider | undefined;
  status?: number;
}

/** Renders the sign-in page, new or with errors; the password is never sent back. */
export function renderSignInPage(
  deps: Pick<SignInDeps, 'pages' | 'passkeys' | 'federation' | 'publicUrl'>,
  req: Request,
  res: Response,
  { continuation, clientName }: { continuation: Continuation; clientName?: string | undefined },
  { providerNotice, hiddenProvider, ...form }: SignInPageState = {},
): void {
  const address = `/${continuation.search}`;
  const state: SignInPageState | undefined = deps.pages.shownAt(req, res, address, form);
  if (!state) return;
  const { values = { username: '', remember: false }, errors = {}, isReset = false, status = 200 } = state;
  const passkey = passkeyRequestOptions(deps, req, continuation);
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(SignInPage, {
        ctx: withContinuation(ctx, continuation.search),
        action: `/sign-in${continuation.search}`,
        values,
        errors,
        passkey,
        providerNotice,
        providerButtons: toProviderButtons(
          { all: deps.federation.providers.all.filter((one) => one !== hiddenProvider) },
          { ...ctx, userAgent: req.get('user-agent') },
          { search: continuation.search, clientLabel: clientName ?? new URL(deps.publicUrl).host },
        ),
        ...(isReset && { done: ctx.t('password.reset.done') }),
        ...(clientName !== undefined && { clientName }),
      }),
    { title: (ctx) => ctx.t('signIn.title'), address },
  );
}

/** GET /sign-in: an address left over from the form (a bookmark, a restored tab) leads to the form's page. */
export const toSignInPage: RequestHandler = (req, res) => {
  const at = req.originalUrl.indexOf('?');
  res.redirect(303, at < 0 ? '/' : `/${req.originalUrl.slice(at)}`);
};

/**
 * For an address that only names a client app: after the sign-in the user continues from there to the start of its
 * request.
 */
const initiateLoginQuery = (clientId: string) => `?${new URLSearchParams({ client_id: clientId })}`;

/** The continuation of a sign-in that only names a client app: after it the user returns here. */
function initiateLoginContinuation(continuation: Continuation, publicUrl: string): Continuation {
  const parameters = new URLSearchParams(continuation.search);
  if (continuation.returnTo !== undefined) return continuation;
  parameters.set('redirect', `/${initiateLoginQuery(parameters.get('client_id') ?? '')}`);
  return continuationFromQuery(`?${parameters}`, publicUrl);
}

/**
 * The client app that an address names without a request; undefined if there is a request, or no client app is named.
 */
export async function findNamedClient(
  { resolveShorthand }: Pick<SignInDeps, 'resolveShorthand'>,
  continuation: Continuation,
) {
  return continuation.authorization === undefined ? resolveShorthand(continuation) : undefined;
}

/**
 * The sign-in page for an expired request that cannot start again here. If possible it leads to the client app's start.
 */
async function sendExpired(deps: SignInDeps, req: Request, res: Response, { search }: Continuation): Promise<void> {
  const clientId = new URLSearchParams(search).get('client_id');
  const continuation = clientId ? continuationFromQuery(initiateLoginQuery(clientId), deps.publicUrl) : { search: '' };
  const named = await findNamedClient(deps, continuation).catch(() => undefined);
  const { t } = req;
  if (named?.kind !== 'client' || named.href === undefined) {
    const form = { errors: { form: t('signIn.errors.requestExpired') }, status: 400 };
    return renderSignInPage(deps, req, res, { continuation: { search: '' } }, form);
  }
  const { clientName } = named;
  const providerNotice = { kind: 'info' as const, text: t('signIn.restarting', { clientName }) };
  renderSignInPage(
    deps,
    req,
    res,
    { continuation: initiateLoginContinuation(continuation, deps.publicUrl), clientName },
    { providerNotice, status: 400 },
  );
}

/** GET /: a signed-in user continues to the next step, everyone else sees the form. */
export function landing(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const continuation = continuationFrom(req, deps.publicUrl);
    const pending =
      continuation.authorization === undefined
        ? undefined
        : await deps.findPendingAuthorization(req, continuation.authorization);
    const member = await deps.sessions.getCurrentUser(req);
    if (continuation.authorization !== undefined && !pending) {
      const { options } = await deps.toExpiredError(req, continuation);
      // A signed-in user needs no form: often the request has succeeded, and this is the back button.
      if (member || options.redirectTo !== undefined) throw new HttpError('requestExpired', options);
      return sendExpired(deps, req, res, continuation);
    }
    // A signed-in user tried to sign in as another user.
    const isRefused = deps.pages.isRefused(req, `/${continuation.search}`);
    const forced = req.query.forceAuth !== undefined || isRefused;
    const named = await findNamedClient(deps, continuation);
    if (named?.kind === 'authorize') return res.redirect(303, named.href);
    const goesOn = named?.kind === 'initiate-login' || (member && !forced && continuation.returnTo === undefined);
    // Often the next step after a form, whose policy does not allow a client app's address.
    if (named?.href !== undefined && goesOn)
      return renderRedirectPage(deps.pages, req, res, named.href, named.clientName);
    const requested = forced || (member && pending && !pending.satisfiedBy(member.session));
    if (member && requested && pending?.requiresStepUpOnly && !forced) {
      return res.redirect(303, `/re-authenticate${continuation.search}`);
    }
    if (member && !requested) return res.redirect(303, deps.nextRedirect(member.user, continuation).address);
    const notice = readQueryParam(req, 'notice');
    const isReset = notice === 'password-reset';
    const { t } = req;
    const over = notice === challengeExpiredNotice && { errors: { form: t('mfa.challenge.errors.expired') } };
    const ended = readNotice(req, deps.federation.providers);
    const isSignedOut = isSignedOutElsewhere(deps.cookies, req, res) && !isReset && !over;
    const signedOut = isSignedOut ? { kind: 'info' as const, text: t('signIn.errors.sessionEnded') } : undefined;
    const providerNotice = ended ? noticeText(t, ended) : signedOut;
    const hiddenProvider = ended?.why === 'offer' ? ended.provider : undefined;
    const place = named?.href === undefined ? continuation : initiateLoginContinuation(continuation, deps.publicUrl);
    const clientName = pending?.clientName ?? named?.clientName;
    // After a refusal, or with a notice, the page shows every sign-in method.
    const provider = isRefused || ended || over || isReset ? undefined : providerAskedFor(deps, req, pending);
    if (provider) return sendOneProviderPage(deps, req, res, provider, { continuation, pending, providerNotice });
    const values = { username: pending?.loginHint ?? '', remember: false };
    renderSignInPage(
      deps,
      req,
      res,
      { continuation: place, clientName },
      { values, isReset, providerNotice, hiddenProvider, ...over },
    );
  };
}
