import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { ReAuthenticatePage } from '../../views/sign-in/re-authenticate-page.tsx';
import type { User } from '../account/index.ts';
import { noticeOf, noticeText } from '../federation/index.ts';
import {
  type Errand,
  errandOf,
  errandOfSearch,
  field,
  query,
  setRetryAfter,
  type T,
  withErrand,
} from '../http/index.ts';
import { unlessBusy } from '../password/index.ts';
import { confirmPassword, type PasswordConfirmed } from './confirm-password.ts';
import type { SignInDeps } from './deps.ts';
import { askToSignIn } from './guard.ts';
import { doorsAgain } from './linked-providers.ts';
import { passkeyAskAgain } from './passkey-ask.ts';
import { overNotice } from './second-factor-standing.ts';

interface Shown {
  error?: string;
  problem?: string;
  /** What became of a way through a provider. */
  said?: { kind: 'error' | 'info'; text: string } | undefined;
  status?: number;
}

const path = '/re-authenticate';

/** Where the member goes on to, also when the address says nothing of it. */
export function errandAgain(req: Request, publicUrl: string): Errand {
  const errand = errandOf(req, publicUrl);
  const says = errand.authorization !== undefined || errand.returnTo !== undefined;
  return says ? errand : errandOfSearch('?redirect=/settings', publicUrl);
}

export async function sendReAuthenticatePage(
  deps: Pick<SignInDeps, 'pages' | 'passkeys' | 'database' | 'federation'>,
  req: Request,
  res: Response,
  { user, errand }: { user: User; errand: Errand },
  given: Shown = {},
): Promise<void> {
  const address = `${path}${errand.search}`;
  const shown = deps.pages.shownAt(req, res, address, given);
  if (!shown) return;
  const { error, problem, said, status = 200 } = shown;
  const passkey = await passkeyAskAgain(deps, req, user, errand);
  const doors = await doorsAgain(deps, req, user, errand);
  const { email } = user;
  const props = {
    action: address,
    email,
    hasPassword: user.passwordHash !== null,
    error,
    problem,
    passkey,
    doors,
    said,
  };
  deps.pages.send(
    req,
    res,
    status,
    (ctx) => createElement(ReAuthenticatePage, { ctx: withErrand(ctx, errand.search), ...props }),
    { title: (ctx) => ctx.t('mfa.again.title'), address },
  );
}

/** Who is not signed in (any more) signs in instead, and goes on to the same place. */
export function askInstead(deps: SignInDeps, req: Request, res: Response): void {
  const { returnTo = '/settings' } = errandOf(req, deps.publicUrl);
  askToSignIn(req, res, deps.publicUrl, returnTo);
}

/** GET /re-authenticate?redirect=…: asks a member who is signed in for the password once more. */
export function showReAuthenticate(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const member = await deps.sessions.member(req);
    if (!member) return askInstead(deps, req, res);
    const isOver = query(req, 'notice') === overNotice;
    const { t } = req;
    const problem = isOver ? { problem: t('mfa.challenge.errors.over') } : {};
    const ended = noticeOf(req, deps.federation.providers);
    await sendReAuthenticatePage(
      deps,
      req,
      res,
      { user: member.user, errand: errandAgain(req, deps.publicUrl) },
      { ...problem, said: ended && noticeText(t, ended) },
    );
  };
}

function refusedText(t: T, refused: Exclude<PasswordConfirmed, { kind: 'right' }>): Shown {
  switch (refused.kind) {
    case 'empty':
      return { status: 400, error: t('signIn.errors.passwordEmpty') };
    case 'wrong':
      return { status: 400, error: t('mfa.again.incorrect') };
    case 'too-many': {
      const minutes = Math.max(1, Math.ceil(refused.retryAfterMs / 60_000));
      return { status: 429, problem: t('signIn.errors.tooMany', { minutes }) };
    }
  }
}

/** POST /re-authenticate: the password, then the second factor where there is one, then a new session. */
export function submitReAuthenticate(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const member = await deps.sessions.member(req);
    if (!member) return askInstead(deps, req, res);
    const { user, session } = member;
    const errand = errandAgain(req, deps.publicUrl);
    const { t } = req;
    const again = (shown: Shown) => sendReAuthenticatePage(deps, req, res, { user, errand }, shown);

    const from = { ip: req.ip ?? '', device: deps.devices.recognise(req, user) };
    const confirmed = await unlessBusy(res, deps, () => confirmPassword(deps, user, field(req, 'password'), from));
    if (confirmed.kind === 'busy') return again({ status: confirmed.status, problem: t('signIn.errors.busy') });
    deps.log.info({ act: 're-authenticate', outcome: confirmed.kind }, 're-authentication');
    if (confirmed.kind === 'too-many') {
      deps.metrics.guessRefused(confirmed.limit);
      setRetryAfter(res, confirmed.retryAfterMs);
    }
    if (confirmed.kind !== 'right') return again(refusedText(t, confirmed));
    const entered = await deps.entrance.enterAgain(req, res, user, {
      amr: ['pwd'],
      remember: session.remember,
      errand,
    });
    res.redirect(303, entered.kind === 'signed-in' ? deps.wayOn(user, errand).address : entered.address);
  };
}
