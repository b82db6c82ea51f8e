import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { passwordStrength } from '../../views/parts/password-strength.ts';
import { ResetStartPage } from '../../views/password/reset-entry-page.tsx';
import {
  type ResetNews,
  ResetPasswordPage,
  type ResetPasswordPageProps,
} from '../../views/password/reset-password-page.tsx';
import {
  type Continuation,
  continuationFrom,
  readFormField,
  readQueryParam,
  setRetryAfter,
  type T,
} from '../http/index.ts';
import { codeMinutes, normaliseCode, resendWaitMs } from '../messages/index.ts';
import { type FlowId, toPublicOutcome } from '../shared/index.ts';
import { maxIdentifierLength, normaliseEmail, toAccountKey } from '../users/index.ts';
import type { PasswordDeps } from './deps.ts';
import { passwordErrorText, retryAfterText, withParams } from './password-texts.ts';
import { hashForPage } from './queue-full.ts';
import { afterResetUrl } from './recent-factors-handlers.ts';
import { resendCode } from './request-reset.ts';
import { isCodeVerified, resetPassword } from './reset-password.ts';
import { accountDigest, type ResetRecord } from './reset-records.ts';

/**
 * The context of a reset page: the continuation, the name in the address, and this browser's flow if it belongs to that
 * name.
 */
interface ResetContext {
  continuation: Continuation;
  username: string;
  id: FlowId;
  flow: ResetRecord | undefined;
}

const path = '/reset-password';

async function getResetContext({ publicUrl, codes, flows }: PasswordDeps, req: Request): Promise<ResetContext> {
  const username = (readQueryParam(req, 'username') ?? '').trim().slice(0, maxIdentifierLength);
  const id = flows.readCookie(req);
  const flow = await flows.find(id);
  // The address names another account: a user who follows such a link must not be asked for one account's code under
  // another's name.
  const isTheirs = flow?.account === accountDigest(codes, toAccountKey(username));
  return { continuation: continuationFrom(req, publicUrl), username, id, flow: isTheirs ? flow : undefined };
}

type ResetPasswordPageState = Partial<
  Pick<ResetPasswordPageProps, 'code' | 'errors' | 'problem' | 'notice' | 'moved' | 'strength' | 'proven'>
> & {
  status?: number;
};

function sentText(t: T, username: string, uniformAnswers: boolean): string {
  const minutes = codeMinutes;
  if (uniformAnswers) return t('password.reset.sentPerhaps', { username, minutes });
  const email = normaliseEmail(username);
  if (email === undefined) return t('password.reset.sentToAccount', { minutes });
  return t('password.reset.sentTo', { email, minutes });
}

function sendResetPage(
  deps: PasswordDeps,
  req: Request,
  res: Response,
  { continuation, username, flow }: ResetContext & { flow: ResetRecord },
  state: ResetPasswordPageState = {},
): void {
  const address = withParams(path, continuation, { username });
  const submitted = deps.pages.shownAt(req, res, address, state);
  if (!submitted) return;
  const { status = 200, errors = {}, proven = isCodeVerified(flow, deps.now()), ...view } = submitted;
  const waitMs = flow.sentAtMs + resendWaitMs - deps.now();
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(ResetPasswordPage, {
        ctx,
        action: address,
        otherHref: withParams('/forgot-password', continuation),
        username,
        sent: sentText(ctx.t, username, deps.uniformAnswers),
        waitSeconds: Math.max(0, Math.ceil(waitMs / 1000)),
        errors,
        proven,
        ...view,
      }),
    { title: (ctx) => ctx.t('password.reset.title'), address },
  );
}

/** No code has been requested in this browser, or the flow is over: it starts here. */
function sendStartPage(
  deps: PasswordDeps,
  req: Request,
  res: Response,
  { continuation, username }: ResetContext,
  state: ResetPasswordPageState & { isOver: boolean },
): void {
  const address = withParams(path, continuation, { username });
  const pageState = deps.pages.shownAt(req, res, address, state);
  if (!pageState) return;
  const { t } = req;
  const over = { title: t('password.reset.failed'), text: t('password.reset.codeExpired') };
  // A refusal may have ended the flow: then this page is its page.
  const problem = pageState.problem ?? (pageState.isOver ? over : undefined);
  deps.pages.send(
    req,
    res,
    pageState.status ?? (problem ? 400 : 200),
    (ctx) =>
      createElement(ResetStartPage, {
        ctx,
        action: withParams('/forgot-password', continuation),
        signInHref: withParams('/', continuation),
        username,
        problem,
      }),
    { title: (ctx) => ctx.t('password.reset.title'), address },
  );
}

/** The notice in the address: one of a fixed list, no other text. */
function noticeText(t: T, notice: string | undefined): ResetNews | undefined {
  if (notice === 'confirmed') {
    const [title, text] = [t('password.request.confirmedTitle'), t('password.request.confirmed')];
    return { title, text, duration: 'redirecting' };
  }
  if (notice === 'resent') {
    return { title: t('password.reset.resentTitle'), text: t('password.reset.resent'), duration: 'short' };
  }
  return undefined;
}

/** GET /reset-password. */
export function showReset(deps: PasswordDeps): RequestHandler {
  return async (req, res) => {
    const resetContext = await getResetContext(deps, req);
    const { flow } = resetContext;
    if (!flow) return sendStartPage(deps, req, res, resetContext, { isOver: false });
    const { t } = req;
    const notice = readQueryParam(req, 'notice');
    sendResetPage(
      deps,
      req,
      res,
      { ...resetContext, flow },
      { notice: noticeText(t, notice), moved: notice === 'moved' },
    );
  };
}

/** Empty or invalid fields, before anything is checked (the specification's section 5). */
function formFaults(
  t: T,
  typed: { code: string; password: string; confirm: string },
  proven: boolean,
): ResetPasswordPageState | undefined {
  const { code, password, confirm } = typed;
  const errors = {
    ...(!proven &&
      normaliseCode(code) === undefined && {
        code: t(code === '' ? 'password.reset.codeEmpty' : 'password.reset.codeIncomplete'),
      }),
    ...(password === '' && { password: t('password.reset.passwordEmpty') }),
    ...(confirm === '' && { confirm: t('password.reset.confirmEmpty') }),
  };
  if (Object.keys(errors).length > 0) return { errors };
  if (password === confirm) return undefined;
  return {
    errors: { confirm: t('password.reset.inconsistent') },
    problem: { title: t('password.reset.failed'), text: t('password.reset.mismatch') },
  };
}

async function resend(
  deps: PasswordDeps,
  req: Request,
  res: Response,
  resetContext: ResetContext & { flow: ResetRecord },
) {
  const { t, language: lang } = req;
  const { continuation, username, id } = resetContext;
  const resent = await resendCode(deps, id, lang, req.ip ?? '');
  if (resent.kind === 'not-found') return sendStartPage(deps, req, res, resetContext, { isOver: true });
  if (resent.kind === 'sent') return res.redirect(303, withParams(path, continuation, { username, notice: 'resent' }));
  setRetryAfter(res, resent.retryAfterMs);
  const text = retryAfterText(t, resent.why, resent.retryAfterMs);
  sendResetPage(deps, req, res, resetContext, {
    status: 429,
    problem: { title: t('password.reset.resendFailed'), text },
  });
}

/** POST /reset-password: sets the password, or sends another code; a new password leads to the sign-in. */
export function submitReset(deps: PasswordDeps): RequestHandler {
  return async (req, res) => {
    const { flows } = deps;
    const resetContext = await getResetContext(deps, req);
    const { username, id, flow } = resetContext;
    const act = readFormField(req, 'act');
    // Passwords are used unchanged; a code has no spaces at its ends.
    const [code, password] = [readFormField(req, 'code').trim(), readFormField(req, 'password')];
    const confirm = readFormField(req, 'confirm');
    if (!flow) return sendStartPage(deps, req, res, resetContext, { isOver: true });
    const context = { ...resetContext, flow };
    if (act === 'resend') return resend(deps, req, res, context);

    const { t, language: lang } = req;
    const whole = normaliseCode(code);
    // The checklist for the sent password, without the user's names: the reader is not authenticated.
    const strength = password === '' ? {} : { strength: passwordStrength(password, { email: username }) };
    const rerender = (pageState: ResetPasswordPageState) =>
      sendResetPage(deps, req, res, context, {
        status: 400,
        ...(whole !== undefined && { code: whole }),
        ...strength,
        ...pageState,
      });
    const failed = (text: string) => ({ title: t('password.reset.failed'), text });
    const faults = formFaults(t, { code, password, confirm }, isCodeVerified(flow, deps.now()));
    if (faults) return rerender(faults);

    const reset = await hashForPage(res, deps, () =>
      resetPassword(deps, id, { code, password }, { ip: req.ip ?? '', lang }),
    );
    if (reset.kind === 'busy') {
      const proven = await flows.find(id);
      return rerender({
        status: reset.status,
        problem: failed(t('signIn.errors.busy')),
        ...(proven && { proven: isCodeVerified(proven, deps.now()) }),
      });
    }
    const outcome = toPublicOutcome(reset.kind === 'reset' ? reset.kind : reset.refusal.kind);
    deps.log.info({ act: 'reset-password', outcome }, 'reset');
    if (reset.kind === 'reset') {
      flows.clearCookie(res);
      await deps.devices.trust(req, res, reset.user);
      return res.redirect(303, await afterResetUrl(deps, req, res, reset.user.id));
    }
    const { refusal } = reset;
    // A useless code is removed from its field.
    const leftOut = { code: '' };
    switch (refusal.kind) {
      case 'no-flow':
        // Its page would ask for a code that is no longer valid.
        await flows.delete(id);
        return sendStartPage(deps, req, res, resetContext, { isOver: true });
      case 'too-many':
        setRetryAfter(res, refusal.retryAfterMs);
        return rerender({ status: 429, problem: failed(retryAfterText(t, 'too-many', refusal.retryAfterMs)) });
      case 'incomplete':
        return rerender({ errors: { code: t('password.reset.codeIncomplete') } });
      case 'incorrect':
        return rerender({
          ...leftOut,
          errors: { code: t('password.reset.codeWrong') },
          problem: failed(t('password.reset.codeWrong')),
        });
      case 'invalidated':
        return rerender({
          ...leftOut,
          errors: { code: t('password.reset.codeExpired') },
          problem: failed(t('password.reset.codeExpired')),
        });
      case 'faults': {
        const text = passwordErrorText(t, refusal.faults);
        const displayed = refusal.faults.includes('contains-personal-data') && strength.strength;
        return rerender({
          errors: { password: text },
          problem: failed(text),
          proven: refusal.proven,
          ...(displayed && { strength: { ...displayed, notPersonal: false } }),
        });
      }
    }
  };
}
