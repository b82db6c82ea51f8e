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
  /** The password was set anew a moment ago. */
  isReset?: boolean;
  /** What became of a way through a provider. */
  providerNotice?: { kind: 'error' | 'info'; text: string } | undefined;
  /** Its button would lead here again. */
  hiddenProvider?: Provider | undefined;
  status?: number;
}

/** Answers the sign-in page, fresh or with what went wrong; the password is never given back. */
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

/** GET /sign-in: an address that the form has left behind (a bookmark, a restored tab) leads to the form's page. */
export const toSignInPage: RequestHandler = (req, res) => {
  const at = req.originalUrl.indexOf('?');
  res.redirect(303, at < 0 ? '/' : `/${req.originalUrl.slice(at)}`);
};

/** Where a client app is only named: a member goes on from there to where it begins a request. */
const initiateLoginQuery = (clientId: string) => `?${new URLSearchParams({ client_id: clientId })}`;

/** The errand of a sign-in for a client app that is only named: after it the member comes by here again. */
function initiateLoginContinuation(continuation: Continuation, publicUrl: string): Continuation {
  const parameters = new URLSearchParams(continuation.search);
  if (continuation.returnTo !== undefined) return continuation;
  parameters.set('redirect', `/${initiateLoginQuery(parameters.get('client_id') ?? '')}`);
  return continuationFromQuery(`?${parameters}`, publicUrl);
}

/** The client app that an address names without a request; undefined where there is one, or nothing is named. */
export async function findNamedClient(
  { resolveShorthand }: Pick<SignInDeps, 'resolveShorthand'>,
  continuation: Continuation,
) {
  return continuation.authorization === undefined ? resolveShorthand(continuation) : undefined;
}

/** The sign-in page for whoever holds a request that cannot begin again here: at best it leads to the client app's start. */
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
  const providerNotice = { kind: 'info' as const, text: t('signIn.beginsAgain', { clientName }) };
  renderSignInPage(
    deps,
    req,
    res,
    { continuation: initiateLoginContinuation(continuation, deps.publicUrl), clientName },
    { providerNotice, status: 400 },
  );
}

/** GET /: who is signed in goes on to the next step, everybody else sees the form. */
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
      // Who is signed in needs no form: often the request came home, and this is the back button.
      if (member || options.redirectTo !== undefined) throw new HttpError('requestExpired', options);
      return sendExpired(deps, req, res, continuation);
    }
    // A member who is signed in already tried to sign in as someone else.
    const isRefused = deps.pages.isRefused(req, `/${continuation.search}`);
    const forced = req.query.forceAuth !== undefined || isRefused;
    const named = await findNamedClient(deps, continuation);
    if (named?.kind === 'authorize') return res.redirect(303, named.href);
    const goesOn = named?.kind === 'client-begins' || (member && !forced && continuation.returnTo === undefined);
    // Often the next step after a form, whose policy knows no client app.
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
    const over = notice === challengeExpiredNotice && { errors: { form: t('mfa.challenge.errors.over') } };
    const ended = readNotice(req, deps.federation.providers);
    const isSignedOut = isSignedOutElsewhere(deps.cookies, req, res) && !isReset && !over;
    const signedOut = isSignedOut ? { kind: 'info' as const, text: t('signIn.errors.sessionEnded') } : undefined;
    const providerNotice = ended ? noticeText(t, ended) : signedOut;
    const hiddenProvider = ended?.why === 'offer' ? ended.provider : undefined;
    const place = named?.href === undefined ? continuation : initiateLoginContinuation(continuation, deps.publicUrl);
    const clientName = pending?.clientName ?? named?.clientName;
    // After a refusal, and with news of its own, the page shows every way.
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
