import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { ReAuthenticatePage } from '../../views/sign-in/reauthenticate-page.tsx';
import { noticeText, readNotice } from '../federation/index.ts';
import {
  type Continuation,
  continuationFrom,
  continuationFromQuery,
  readFormField,
  readQueryParam,
  setRetryAfter,
  type T,
  withContinuation,
} from '../http/index.ts';
import { hashForPage } from '../password/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import { challengeExpiredNotice } from './current-challenge.ts';
import type { SignInDeps } from './deps.ts';
import { linkedProviderButtons } from './linked-provider-buttons.ts';
import { passkeyRequestOptionsForUser } from './passkey-options.ts';
import { redirectToSignIn } from './require-sign-in.ts';
import { type VerifyPasswordResult, verifyCurrentPassword } from './verify-current-password.ts';

interface ReauthenticatePageState {
  error?: string;
  problem?: string;
  /** The result of an attempt at a provider. */
  providerNotice?: { kind: 'error' | 'info'; text: string } | undefined;
  status?: number;
}

const path = '/re-authenticate';

/** The target after re-authentication, with a default if the address has none. */
export function reauthContinuation(req: Request, publicUrl: string): Continuation {
  const continuation = continuationFrom(req, publicUrl);
  const says = continuation.authorization !== undefined || continuation.returnTo !== undefined;
  return says ? continuation : continuationFromQuery('?redirect=/settings', publicUrl);
}

export async function renderReauthenticatePage(
  deps: Pick<SignInDeps, 'pages' | 'passkeys' | 'database' | 'federation'>,
  req: Request,
  res: Response,
  { user, continuation }: { user: User; continuation: Continuation },
  state: ReauthenticatePageState = {},
): Promise<void> {
  const address = `${path}${continuation.search}`;
  const pageState = deps.pages.shownAt(req, res, address, state);
  if (!pageState) return;
  const { error, problem, providerNotice, status = 200 } = pageState;
  const passkey = await passkeyRequestOptionsForUser(deps, req, user, continuation);
  const providerButtons = await linkedProviderButtons(deps, req, user, continuation);
  const { email } = user;
  const props = {
    action: address,
    email,
    hasPassword: user.passwordHash !== null,
    error,
    problem,
    passkey,
    providerButtons,
    providerNotice,
  };
  deps.pages.send(
    req,
    res,
    status,
    (ctx) => createElement(ReAuthenticatePage, { ctx: withContinuation(ctx, continuation.search), ...props }),
    { title: (ctx) => ctx.t('signIn.reauthenticate.title'), address },
  );
}

/** A visitor who is not signed in (any more) signs in instead, and continues to the same place. */
export function redirectToSignInInstead(deps: SignInDeps, req: Request, res: Response): void {
  const { returnTo = '/settings' } = continuationFrom(req, deps.publicUrl);
  redirectToSignIn(req, res, deps.publicUrl, returnTo);
}

/** GET /re-authenticate?redirect=…: asks a signed-in user for the password again. */
export function showReauthenticate(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const member = await deps.sessions.getCurrentUser(req);
    if (!member) return redirectToSignInInstead(deps, req, res);
    const isOver = readQueryParam(req, 'notice') === challengeExpiredNotice;
    const { t } = req;
    const problem = isOver ? { problem: t('mfa.challenge.errors.expired') } : {};
    const ended = readNotice(req, deps.federation.providers);
    await renderReauthenticatePage(
      deps,
      req,
      res,
      { user: member.user, continuation: reauthContinuation(req, deps.publicUrl) },
      { ...problem, providerNotice: ended && noticeText(t, ended) },
    );
  };
}

function toPageState(t: T, refused: Exclude<VerifyPasswordResult, { kind: 'correct' }>): ReauthenticatePageState {
  switch (refused.kind) {
    case 'empty':
      return { status: 400, error: t('signIn.errors.passwordEmpty') };
    case 'incorrect':
      return { status: 400, error: t('signIn.reauthenticate.incorrect') };
    case 'too-many': {
      const minutes = Math.max(1, Math.ceil(refused.retryAfterMs / 60_000));
      return { status: 429, problem: t('signIn.errors.tooMany', { minutes }) };
    }
  }
}

/** POST /re-authenticate: the password, then the second factor if there is one, then a new session. */
export function submitReauthenticate(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const member = await deps.sessions.getCurrentUser(req);
    if (!member) return redirectToSignInInstead(deps, req, res);
    const { user, session } = member;
    const continuation = reauthContinuation(req, deps.publicUrl);
    const { t } = req;
    const rerender = (pageState: ReauthenticatePageState) =>
      renderReauthenticatePage(deps, req, res, { user, continuation }, pageState);

    const from = { ip: req.ip ?? '', device: deps.devices.recognise(req, user) };
    const confirmed = await hashForPage(res, deps, () =>
      verifyCurrentPassword(deps, user, readFormField(req, 'password'), from),
    );
    if (confirmed.kind === 'busy') return rerender({ status: confirmed.status, problem: t('signIn.errors.busy') });
    deps.log.info({ act: 're-authenticate', outcome: toPublicOutcome(confirmed.kind) }, 're-authentication');
    if (confirmed.kind === 'too-many') {
      deps.metrics.guessRefused(confirmed.limit);
      setRetryAfter(res, confirmed.retryAfterMs);
    }
    if (confirmed.kind !== 'correct') return rerender(toPageState(t, confirmed));
    const entered = await deps.signIn.completeReauthentication(req, res, user, {
      amr: ['pwd'],
      remember: session.remember,
      continuation,
    });
    res.redirect(303, entered.kind === 'signed-in' ? deps.nextRedirect(user, continuation).address : entered.address);
  };
}
