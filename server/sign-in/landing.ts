import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { SignInPage } from '../../views/sign-in/sign-in-page.tsx';
import { doorsOf, noticeOf, noticeText, type Provider } from '../federation/index.ts';
import { type Errand, errandOf, HttpError, query, withErrand } from '../http/index.ts';
import type { SignInDeps } from './deps.ts';
import { passkeyAsk } from './passkey-ask.ts';
import { overNotice } from './second-factor-standing.ts';

export interface SignInForm {
  values?: { username: string; remember: boolean };
  errors?: { username?: string; password?: string; form?: string };
  /** The password was set anew a moment ago. */
  isReset?: boolean;
  /** What became of a way through a provider. */
  said?: { kind: 'error' | 'info'; text: string } | undefined;
  /** Its button would lead here again. */
  without?: Provider | undefined;
  status?: number;
}

/** Answers the sign-in page, fresh or with what went wrong; the password is never given back. */
export function sendSignInPage(
  deps: Pick<SignInDeps, 'pages' | 'passkeys' | 'federation' | 'publicUrl'>,
  req: Request,
  res: Response,
  { errand, clientName }: { errand: Errand; clientName?: string | undefined },
  {
    values = { username: '', remember: false },
    errors = {},
    isReset = false,
    said,
    without,
    status = 200,
  }: SignInForm = {},
): void {
  const passkey = passkeyAsk(deps, req, res, errand);
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(SignInPage, {
        ctx: withErrand(ctx, errand.search),
        action: `/sign-in${errand.search}`,
        values,
        errors,
        passkey,
        said,
        doors: doorsOf(
          { all: deps.federation.providers.all.filter((one) => one !== without) },
          { ...ctx, userAgent: req.get('user-agent') },
          { search: errand.search, place: clientName ?? new URL(deps.publicUrl).host },
        ),
        ...(isReset && { done: ctx.t('password.reset.done') }),
        ...(clientName !== undefined && { clientName }),
      }),
    { title: (ctx) => ctx.t('signIn.title'), address: `/${errand.search}` },
  );
}

/** GET /: who is signed in goes on to the next step, everybody else sees the form. */
export function landing(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const errand = errandOf(req, deps.publicUrl);
    const pending =
      errand.authorization === undefined ? undefined : await deps.pendingRequest(req, errand.authorization);
    const member = await deps.sessions.member(req);
    if (errand.authorization !== undefined && !pending) {
      // Who is signed in needs no form: often the request came home, and this is the back button.
      if (member) throw new HttpError('requestExpired', { detail: 'a signed-in member on the sign-in page' });
      const none: Errand = { search: '' };
      const t = deps.pages.context(req, res).t;
      const errors = { form: t('signIn.errors.requestExpired') };
      return sendSignInPage(deps, req, res, { errand: none }, { errors, status: 400 });
    }
    const asked = req.query.forceAuth !== undefined || (member && pending && !pending.satisfiedBy(member.session));
    if (member && asked && pending?.asksForAcrAlone && req.query.forceAuth === undefined) {
      return res.redirect(303, `/re-authenticate${errand.search}`);
    }
    if (member && !asked) return res.redirect(303, deps.wayOn(member.user, errand).address);
    const notice = query(req, 'notice');
    const isReset = notice === 'password-reset';
    const over = notice === overNotice && {
      errors: { form: deps.pages.context(req, res).t('mfa.challenge.errors.over') },
    };
    const ended = noticeOf(req, deps.federation.providers);
    const said = ended && noticeText(deps.pages.context(req, res).t, ended);
    const without = ended?.why === 'offer' ? ended.provider : undefined;
    sendSignInPage(deps, req, res, { errand, clientName: pending?.clientName }, { isReset, said, without, ...over });
  };
}
