import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { MailedCodePage, type MailedCodePageProps } from '../../views/sign-in/mailed-code-page.tsx';
import { codeMinutes } from '../codes/index.ts';
import { type Continuation, continuationFrom, readFormField, setRetryAfter, withContinuation } from '../http/index.ts';
import { retryAfterText } from '../password/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';
import type { MailedCodeResult } from './mailed-code.ts';

const path = '/sign-in/code';

/** After a password attempt while the limit for all visitors is used up, right or wrong: the code by mail is next. */
export async function askForMailedCode(
  deps: Pick<SignInDeps, 'mailedCodes' | 'log'>,
  req: Request,
  res: Response,
  { user, remember, continuation }: { user: User | undefined; remember: boolean; continuation: Continuation },
): Promise<void> {
  const { mailedCodes, log } = deps;
  const owner = user && { id: user.id, passwordEpoch: user.passwordEpoch };
  const id = await mailedCodes.begin({ user: owner ?? null, remember });
  const { language: lang } = req;
  res.once('close', () => {
    mailedCodes.send(id, lang).catch((error: unknown) => log.warn({ err: error }, 'could not mail a sign-in code'));
  });
  mailedCodes.flows.setCookie(res, id);
  res.redirect(303, path + continuation.search);
}

type MailedCodePageState = Pick<MailedCodePageProps, 'error' | 'problem'> & { status?: number };

function sendPage(deps: SignInDeps, req: Request, res: Response, input: MailedCodePageState = {}): void {
  const continuation = continuationFrom(req, deps.publicUrl);
  const address = path + continuation.search;
  const submitted = deps.pages.shownAt(req, res, address, input);
  if (!submitted) return;
  const { status = 200, ...view } = submitted;
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(MailedCodePage, {
        ctx: withContinuation(ctx, continuation.search),
        action: address,
        signInHref: `/${continuation.search}`,
        forgotHref: `/forgot-password${continuation.search}`,
        minutes: codeMinutes,
        ...view,
      }),
    { title: (ctx) => ctx.t('signIn.mailedCode.title'), address },
  );
}

/** GET /sign-in/code: without a waiting sign-in it leads to the sign-in page. */
export function showMailedCode(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const { flows } = deps.mailedCodes;
    if (await flows.find(flows.readCookie(req))) return sendPage(deps, req, res);
    res.redirect(303, `/${continuationFrom(req, deps.publicUrl).search}`);
  };
}

function refused(deps: SignInDeps, req: Request, res: Response, view: Exclude<MailedCodeResult, { kind: 'correct' }>) {
  const { t } = req;
  switch (view.kind) {
    case 'incomplete':
      return sendPage(deps, req, res, { status: 400, error: t('signIn.mailedCode.incomplete') });
    case 'incorrect':
      return sendPage(deps, req, res, { status: 400, error: t('signIn.mailedCode.wrong') });
    case 'invalidated':
      return sendPage(deps, req, res, { status: 400, problem: t('signIn.mailedCode.invalidated') });
    case 'too-many':
      setRetryAfter(res, view.retryAfterMs);
      return sendPage(deps, req, res, { status: 429, problem: retryAfterText(t, 'too-many', view.retryAfterMs) });
    case 'not-found':
      return res.redirect(303, `/${continuationFrom(req, deps.publicUrl).search}`);
  }
}

/** POST /sign-in/code: the right code continues as the password alone does at other times. */
export function submitMailedCode(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const { mailedCodes, signIn, metrics, nextRedirect } = deps;
    const continuation = continuationFrom(req, deps.publicUrl);
    const view = await mailedCodes.show(
      mailedCodes.flows.readCookie(req),
      readFormField(req, 'code').trim(),
      req.ip ?? '',
    );
    if (view.kind !== 'correct') {
      deps.log.info({ act: 'sign-in-code', outcome: toPublicOutcome(view.kind) }, 'mailed sign-in code');
      return refused(deps, req, res, view);
    }
    mailedCodes.flows.clearCookie(res);
    const { user, remember } = view;
    const waiting =
      continuation.authorization === undefined
        ? undefined
        : await deps.findPendingAuthorization(req, continuation.authorization);
    const entered = await signIn.completeSignIn(req, res, user, {
      amr: ['pwd'],
      remember,
      continuation,
      requireAllFactors: waiting?.requiresAllFactors,
    });
    metrics.signIn('password', toPublicOutcome(entered.kind));
    res.redirect(303, entered.kind === 'signed-in' ? nextRedirect(user, continuation).address : entered.address);
  };
}
