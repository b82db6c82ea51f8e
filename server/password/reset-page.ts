import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { passwordStrength } from '../../views/parts/password-strength.ts';
import {
  type ResetNews,
  ResetPasswordPage,
  type ResetPasswordPageProps,
} from '../../views/password/reset-password-page.tsx';
import { ResetStartPage } from '../../views/password/reset-start-page.tsx';
import { accountOf, mostIdentifierCharacters, normalEmail } from '../account/index.ts';
import { codeMinutes, resendWaitMs, wholeCode } from '../codes/index.ts';
import { type Errand, errandOf, field, query, setRetryAfter, type T } from '../http/index.ts';
import { unlessBusy } from './busy.ts';
import type { PasswordDeps } from './deps.ts';
import { resendCode } from './forgot.ts';
import { addressWith, passwordFaultText, waitText } from './page-support.ts';
import { isProven, resetPassword } from './reset.ts';
import { accountDigest, type ResetFlow } from './reset-flows.ts';
import { wayAfterReset } from './reset-ways-in.ts';

/** Where a visitor stands: the errand, the name in the address, and this browser's flow when it is that name's. */
interface Standing {
  errand: Errand;
  username: string;
  id: string;
  flow: ResetFlow | undefined;
}

const path = '/reset-password';

async function standingOf({ publicUrl, codes, flows }: PasswordDeps, req: Request): Promise<Standing> {
  const username = (query(req, 'username') ?? '').trim().slice(0, mostIdentifierCharacters);
  const id = flows.readCookie(req);
  const flow = await flows.find(id);
  // The address names somebody else: whoever follows such a link must not be asked for one account's code under
  // another's name.
  const isTheirs = flow?.account === accountDigest(codes, accountOf(username));
  return { errand: errandOf(req, publicUrl), username, id, flow: isTheirs ? flow : undefined };
}

type Shown = Partial<
  Pick<ResetPasswordPageProps, 'code' | 'errors' | 'problem' | 'news' | 'moved' | 'met' | 'proven'>
> & {
  status?: number;
};

function sentText(t: T, username: string, uniformAnswers: boolean): string {
  const minutes = codeMinutes;
  if (uniformAnswers) return t('password.reset.sentPerhaps', { username, minutes });
  const email = normalEmail(username);
  if (email === undefined) return t('password.reset.sentToAccount', { minutes });
  return t('password.reset.sentTo', { email, minutes });
}

function sendResetPage(
  deps: PasswordDeps,
  req: Request,
  res: Response,
  { errand, username, flow }: Standing & { flow: ResetFlow },
  given: Shown = {},
): void {
  const address = addressWith(path, errand, { username });
  const said = deps.pages.shownAt(req, res, address, given);
  if (!said) return;
  const { status = 200, errors = {}, proven = isProven(flow, deps.now()), ...shown } = said;
  const waitMs = flow.sentAtMs + resendWaitMs - deps.now();
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(ResetPasswordPage, {
        ctx,
        action: address,
        otherHref: addressWith('/forgot-password', errand),
        username,
        sent: sentText(ctx.t, username, deps.uniformAnswers),
        waitSeconds: Math.max(0, Math.ceil(waitMs / 1000)),
        errors,
        proven,
        ...shown,
      }),
    { title: (ctx) => ctx.t('password.reset.title'), address },
  );
}

/** No code has been asked for in this browser, or the way is over: it begins here. */
function sendStartPage(
  deps: PasswordDeps,
  req: Request,
  res: Response,
  { errand, username }: Standing,
  given: Shown & { isOver: boolean },
): void {
  const address = addressWith(path, errand, { username });
  const shown = deps.pages.shownAt(req, res, address, given);
  if (!shown) return;
  const { t } = req;
  const over = { title: t('password.reset.failed'), text: t('password.reset.codeGone') };
  // A refusal may have ended the flow: its page is this one by now.
  const problem = shown.problem ?? (shown.isOver ? over : undefined);
  deps.pages.send(
    req,
    res,
    shown.status ?? (problem ? 400 : 200),
    (ctx) =>
      createElement(ResetStartPage, {
        ctx,
        action: addressWith('/forgot-password', errand),
        signInHref: addressWith('/', errand),
        username,
        problem,
      }),
    { title: (ctx) => ctx.t('password.reset.title'), address },
  );
}

/** What the address may say was done: one of these, and no other text. */
function newsOf(t: T, notice: string | undefined): ResetNews | undefined {
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
    const standing = await standingOf(deps, req);
    const { flow } = standing;
    if (!flow) return sendStartPage(deps, req, res, standing, { isOver: false });
    const { t } = req;
    const notice = query(req, 'notice');
    sendResetPage(deps, req, res, { ...standing, flow }, { news: newsOf(t, notice), moved: notice === 'moved' });
  };
}

/** What was left empty, or does not fit, before anything is looked at (the specification's section 5). */
function formFaults(
  t: T,
  typed: { code: string; password: string; confirm: string },
  proven: boolean,
): Shown | undefined {
  const { code, password, confirm } = typed;
  const errors = {
    ...(!proven &&
      wholeCode(code) === undefined && {
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

async function resend(deps: PasswordDeps, req: Request, res: Response, standing: Standing & { flow: ResetFlow }) {
  const { t, language: lang } = req;
  const { errand, username, id } = standing;
  const resent = await resendCode(deps, id, lang, req.ip ?? '');
  if (resent.kind === 'gone') return sendStartPage(deps, req, res, standing, { isOver: true });
  if (resent.kind === 'sent') return res.redirect(303, addressWith(path, errand, { username, notice: 'resent' }));
  setRetryAfter(res, resent.retryAfterMs);
  const text = waitText(t, resent.why, resent.retryAfterMs);
  sendResetPage(deps, req, res, standing, { status: 429, problem: { title: t('password.reset.resendFailed'), text } });
}

/** POST /reset-password: sets the password, or sends another code; a new password leads to the sign-in. */
export function submitReset(deps: PasswordDeps): RequestHandler {
  return async (req, res) => {
    const { flows } = deps;
    const standing = await standingOf(deps, req);
    const { username, id, flow } = standing;
    const act = field(req, 'act');
    // Passwords are taken as they are; a code has no spaces at its ends.
    const [code, password] = [field(req, 'code').trim(), field(req, 'password')];
    const confirm = field(req, 'confirm');
    if (!flow) return sendStartPage(deps, req, res, standing, { isOver: true });
    const here = { ...standing, flow };
    if (act === 'resend') return resend(deps, req, res, here);

    const { t, language: lang } = req;
    const whole = wholeCode(code);
    // What the checklist says of the password that was sent, without the member's names: it is anybody who reads it.
    const met = password === '' ? {} : { met: passwordStrength(password, { email: username }) };
    const again = (shown: Shown) =>
      sendResetPage(deps, req, res, here, {
        status: 400,
        ...(whole !== undefined && { code: whole }),
        ...met,
        ...shown,
      });
    const failed = (text: string) => ({ title: t('password.reset.failed'), text });
    const faults = formFaults(t, { code, password, confirm }, isProven(flow, deps.now()));
    if (faults) return again(faults);

    const reset = await unlessBusy(res, deps, () =>
      resetPassword(deps, id, { code, password }, { ip: req.ip ?? '', lang }),
    );
    if (reset.kind === 'busy') {
      const proven = await flows.find(id);
      return again({
        status: reset.status,
        problem: failed(t('signIn.errors.busy')),
        ...(proven && { proven: isProven(proven, deps.now()) }),
      });
    }
    deps.log.info({ act: 'reset-password', outcome: reset.kind === 'reset' ? 'reset' : reset.refusal.kind }, 'reset');
    if (reset.kind === 'reset') {
      flows.clearCookie(res);
      await deps.devices.trust(req, res, reset.user);
      return res.redirect(303, await wayAfterReset(deps, req, res, flow.user?.id ?? ''));
    }
    const { refusal } = reset;
    // A code that is of no use leaves its field to the next.
    const leftOut = { code: '' };
    switch (refusal.kind) {
      case 'no-flow':
        // Its page would ask for a code that is good for nothing.
        await flows.delete(id);
        return sendStartPage(deps, req, res, standing, { isOver: true });
      case 'too-many':
        setRetryAfter(res, refusal.retryAfterMs);
        return again({ status: 429, problem: failed(waitText(t, 'too-many', refusal.retryAfterMs)) });
      case 'incomplete':
        return again({ errors: { code: t('password.reset.codeIncomplete') } });
      case 'wrong':
        return again({
          ...leftOut,
          errors: { code: t('password.reset.codeWrong') },
          problem: failed(t('password.reset.codeWrong')),
        });
      case 'void':
        return again({
          ...leftOut,
          errors: { code: t('password.reset.codeGone') },
          problem: failed(t('password.reset.codeGone')),
        });
      case 'faults': {
        const text = passwordFaultText(t, refusal.faults);
        const shown = refusal.faults.includes('contains-personal-data') && met.met;
        return again({
          errors: { password: text },
          problem: failed(text),
          proven: refusal.proven,
          ...(shown && { met: { ...shown, notPersonal: false } }),
        });
      }
    }
  };
}
