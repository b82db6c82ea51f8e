import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { MfaSmsCodePage, type MfaSmsCodePageProps, MfaSmsPage } from '../../views/settings/mfa-sms-pages.tsx';
import { codeMinutes, normaliseCode, resendWaitMs } from '../codes/index.ts';
import {
  HttpError,
  methodNotAllowed,
  readFormField,
  readQueryParam,
  setRetryAfter,
  type T,
  toRetrySeconds,
} from '../http/index.ts';
import type { SmsSent } from '../mfa/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import type { AccountDeps } from './deps.ts';
import { endOthersIfTicked, endOthersTicked } from './end-others.ts';
import { formatPhone } from './format-phone.ts';
import { phonePath, securityHomePath, smsCodePath, smsPath } from './paths.ts';
import { recordPresentedFactor } from './record-presented-factor.ts';
import { afterEnablingFactor } from './recovery-codes-handlers.ts';
import { type MemberHandler, requireRecentAuth, type SignedInUser } from './require-recent-auth.ts';

/** The flow of the code: it belongs to this session. */
const enrolmentFlowId = ({ session }: SignedInUser) => `enrol:${session.idHash}`;

/** For users whose number can carry the factor; others are redirected to the page that helps. */
function withNumber(
  deps: AccountDeps,
  handler: (...args: [...Parameters<MemberHandler>, string]) => unknown,
): MemberHandler {
  return (req, res, member) => {
    const { user } = member;
    if (!deps.smsOffered) throw new HttpError('notFound', { detail: 'SMS is not configured' });
    if (user.mfaPreference === 'sms') return res.redirect(303, securityHomePath);
    if (user.phone === null || !user.phoneVerified) return res.redirect(303, phonePath);
    return handler(req, res, member, formatPhone(user.phone));
  };
}

function refusalText(t: T, { why, retryAfterMs = 0 }: SmsSent & { sent: false }): string {
  switch (why) {
    case 'too-soon':
      return t('mfaSettings.sms.wait', { seconds: toRetrySeconds(retryAfterMs) });
    case 'country':
      return t('mfaSettings.sms.country');
    case 'no-number':
      return t('mfaSettings.errors.noPhone');
    default:
      return t('mfaSettings.sms.tooMany', { minutes: Math.max(1, Math.ceil(retryAfterMs / 60_000)) });
  }
}

/** GET /settings/mfa/sms. */
const showSms = (deps: AccountDeps) =>
  withNumber(deps, (req, res, _member, number) => renderSmsPage(deps, req, res, number));

interface Refused {
  status?: number;
  problem?: string;
}

function renderSmsPage({ pages }: AccountDeps, req: Request, res: Response, number: string, input: Refused = {}): void {
  const view = pages.shownAt(req, res, smsPath, input);
  if (!view) return;
  const { status = 200, problem } = view;
  pages.send(req, res, status, (ctx) => createElement(MfaSmsPage, { ctx, action: smsPath, number, problem }), {
    title: (ctx) => ctx.t('mfaSettings.sms.title'),
    address: smsPath,
  });
}

const sentKey = ({ session }: SignedInUser) => `mfa-sms-sent:${session.idHash}`;

async function sendCode(deps: AccountDeps, req: Request, member: SignedInUser): Promise<SmsSent> {
  const { mfa, kv, now, log } = deps;
  const { language: lang } = req;
  const sent = await mfa.smsCodes.send(member.user, { flow: enrolmentFlowId(member) }, { lang, ip: req.ip ?? '' });
  log.info({ act: 'mfa-sms', outcome: sent.sent ? 'sent' : toPublicOutcome(sent.why) }, 'SMS code');
  if (sent.sent) await kv.set(sentKey(member), String(now()), codeMinutes * 60_000);
  return sent;
}

/** Time of the last code for this session (milliseconds since the epoch); undefined: none. */
async function sentAt({ kv }: AccountDeps, member: SignedInUser): Promise<number | undefined> {
  const text = await kv.get(sentKey(member));
  return text === null ? undefined : Number(text);
}

/** POST /settings/mfa/sms: sends a code to the user's number. */
const requestCode = (deps: AccountDeps) =>
  withNumber(deps, async (req, res, member, number) => {
    const sent = await sendCode(deps, req, member);
    if (sent.sent || sent.why === 'too-soon') return res.redirect(303, smsCodePath);
    const problem = refusalText(req.t, sent);
    if (sent.retryAfterMs !== undefined) setRetryAfter(res, sent.retryAfterMs);
    renderSmsPage(deps, req, res, number, { status: 429, problem });
  });

type SmsCodePageState = Partial<Pick<MfaSmsCodePageProps, 'error' | 'problem' | 'resent' | 'endOthers'>> & {
  status?: number;
};

async function renderSmsCodePage(
  deps: AccountDeps,
  req: Request,
  res: Response,
  member: SignedInUser,
  number: string,
  state: SmsCodePageState = {},
): Promise<void> {
  const pageState = deps.pages.shownAt(req, res, smsCodePath, state);
  if (!pageState) return;
  const { status = 200, resent = false, ...noticeName } = pageState;
  const waitMs = ((await sentAt(deps, member)) ?? 0) + resendWaitMs - deps.now();
  const waitSeconds = Math.max(0, Math.ceil(waitMs / 1000));
  const page = { action: smsCodePath, number, minutes: codeMinutes, resent, waitSeconds, ...noticeName };
  deps.pages.send(req, res, status, (ctx) => createElement(MfaSmsCodePage, { ctx, ...page }), {
    title: (ctx) => ctx.t('mfaSettings.sms.codeTitle'),
    address: smsCodePath,
  });
}

/** GET /settings/mfa/sms/code. */
const showCode = (deps: AccountDeps) =>
  withNumber(deps, async (req, res, member, number) => {
    if ((await sentAt(deps, member)) === undefined) return res.redirect(303, smsPath);
    const resent = readQueryParam(req, 'notice') === 'resent';
    await renderSmsCodePage(deps, req, res, member, number, { resent });
  });

async function resend(deps: AccountDeps, req: Request, res: Response, member: SignedInUser, number: string) {
  const sent = await sendCode(deps, req, member);
  if (sent.sent) return res.redirect(303, `${smsCodePath}?notice=resent`);
  const problem = refusalText(req.t, sent);
  if (sent.retryAfterMs !== undefined) setRetryAfter(res, sent.retryAfterMs);
  await renderSmsCodePage(deps, req, res, member, number, { status: 429, problem });
}

/** POST /settings/mfa/sms/code: the received code enables it; or another one is sent. */
const submitCode = (deps: AccountDeps) =>
  withNumber(deps, async (req, res, member, number) => {
    const { user } = member;
    const { t } = req;
    const refuse = (pageState: SmsCodePageState) =>
      renderSmsCodePage(deps, req, res, member, number, { status: 400, endOthers: endOthersTicked(req), ...pageState });
    if (readFormField(req, 'act') === 'resend') return resend(deps, req, res, member, number);
    const code = normaliseCode(readFormField(req, 'code'));
    if (code === undefined) return refuse({ error: t('mfaSettings.totp.incomplete') });
    const check = await deps.mfa.smsCodes.check(user, enrolmentFlowId(member), code);
    if (check === 'incorrect') return refuse({ error: t('mfaSettings.totp.wrong') });
    // Its page is over too, unless there were only too many attempts with the code.
    if (check === 'invalidated' && (await sentAt(deps, member)) === undefined) {
      return renderSmsPage(deps, req, res, number, { status: 400, problem: t('mfaSettings.sms.expired') });
    }
    if (check === 'invalidated') return refuse({ error: t('mfaSettings.sms.expired') });
    const preferred = await deps.mfa.enrolling.prefer(user, 'sms', getRequestOrigin(req));
    deps.log.info(
      { act: 'mfa-preference', outcome: toPublicOutcome(preferred.kind), wanted: 'sms' },
      'second factor preference',
    );
    switch (preferred.kind) {
      case 'unchanged':
        return res.redirect(303, securityHomePath);
      case 'not-found':
        throw new HttpError('unauthorized', { detail: 'user or password has changed' });
      case 'refused':
        return refuse({ problem: t('mfaSettings.errors.noPhone') });
      case 'set': {
        const session = await recordPresentedFactor(deps, req, res, member, 'sms');
        await endOthersIfTicked(deps, req, { user, session });
        const turnedOn = { done: 'mfa-sms', codes: preferred.recoveryCodes } as const;
        return res.redirect(303, await afterEnablingFactor(deps, req, res, { user, session }, turnedOn));
      }
    }
  });

/** Codes by SMS: one must arrive before they become the second factor. */
export function mfaSmsRoutes(router: Router, deps: AccountDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(smsPath)
    .get(requireRecentAuth(deps, showSms(deps)))
    .post(requireRecentAuth(deps, requestCode(deps)))
    .all(only);
  router
    .route(smsCodePath)
    .get(requireRecentAuth(deps, showCode(deps)))
    .post(requireRecentAuth(deps, submitCode(deps)))
    .all(only);
}
