import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { CodePage, type CodePageProps } from '../../views/sign-up/code-page.tsx';
import {
  type Continuation,
  continuationFromQuery,
  HttpError,
  RequestContext,
  readFormField,
  setRetryAfter,
  toRetrySeconds,
  withContinuation,
} from '../http/index.ts';
import { normaliseCode } from '../messages/index.ts';
import type { FlowId } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { SignUpDeps } from './deps.ts';
import { startEmailVerification } from './email-verification.ts';
import { renderProfilePage } from './profile-handlers.ts';
import { resendCode, type SendCodeResult, secondsUntilResend } from './resend-code.ts';
import { loadSignUpContext, type SignUpContext } from './sign-up-context.ts';
import { findSignUpRecord, type SignUpRecord } from './sign-up-records.ts';
import type { SignUp } from './sign-up-store.ts';
import { tooManyText } from './sign-up-texts.ts';
import { restartSignUp } from './start-over.ts';
import { findUnverifiedSubject, type UnverifiedSubject } from './unverified-subject.ts';
import { nextSignUpStep } from './verified-handlers.ts';
import { type VerifyEmailResult, verifyEmail } from './verify-email.ts';

/** The same page is used in the sign-up, in the post-signup flow and, after a sign-in, at an address of its own. */
export type VerifyEmailEntry = 'sign-up' | 'verify-code' | 'post-signup';

interface VerifyEmailContext {
  at: VerifyEmailEntry;
  place: SignUpContext;
  /** Address of this page. */
  address: string;
  record: { id: FlowId; flow: SignUpRecord } | undefined;
  subject: UnverifiedSubject | undefined;
}

type VerifyEmailPageState = Partial<Pick<CodePageProps, 'code' | 'error' | 'notice' | 'waitSeconds'>> & {
  status?: number;
};

/** How long a notice says that a code was sent again. */
const resendNoticeMs = 10_000;

async function loadContext(deps: SignUpDeps, at: VerifyEmailEntry, req: Request): Promise<VerifyEmailContext> {
  const place = await loadSignUpContext(deps, req);
  const { search } = place.continuation;
  const addresses = {
    'sign-up': place.code,
    'verify-code': `/verify-code${search}`,
    'post-signup': `/post-signup/security${search}`,
  };
  const address = addresses[at];
  const record = await findSignUpRecord(deps.flows, req);
  const subject = record && (await findUnverifiedSubject(deps, record.flow));
  return { at, place, address, record, subject };
}

function renderVerifyEmailPage(
  deps: SignUpDeps,
  req: Request,
  res: Response,
  {
    at,
    place,
    address,
    subject,
    flow,
  }: Omit<VerifyEmailContext, 'subject'> & {
    subject: Pick<UnverifiedSubject, 'email' | 'kind'> & { signUp?: SignUp };
    flow: SignUpRecord | undefined;
  },
  state: VerifyEmailPageState = {},
): void {
  const submitted = deps.pages.shownAt(req, res, address, state);
  if (!submitted) return;
  const { status = 200, waitSeconds, ...view } = submitted;
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(CodePage, {
        ctx: withContinuation(ctx, place.continuation.search),
        action: address,
        signInHref: place.signIn,
        email: subject.email,
        backHref: subject.kind === 'sign-up' && subject.signUp?.identity === null ? place.profile : undefined,
        steps: at === 'post-signup' ? at : at === 'sign-up',
        unsent: flow?.sentAtMs === undefined,
        waitSeconds: waitSeconds ?? (flow ? secondsUntilResend(flow, deps.now()) : 0),
        ...view,
      }),
    { title: (ctx) => ctx.t('signUp.code.title'), address },
  );
}

/** For users without anything to confirm: in the post-signup flow the step PLAN, while they have none. */
async function nextAfterVerification(
  deps: SignUpDeps,
  req: Request,
  at: VerifyEmailEntry,
  place: SignUpContext,
  user: User,
): Promise<string> {
  if (at === 'sign-up') return nextSignUpStep(deps, req, place, user);
  if (at === 'post-signup' && user.planId === null) return `/post-signup/plan${place.continuation.search}`;
  return deps.nextRedirect(user, place.continuation).address;
}

/** GET: the page if there is something to confirm; every other visitor is redirected. */
export function showVerifyEmail(deps: SignUpDeps, at: VerifyEmailEntry): RequestHandler {
  return async (req, res) => {
    const found = await loadContext(deps, at, req);
    const { record, subject, place } = found;
    const member = await deps.sessions.getCurrentUser(req);
    if (record && subject) {
      const { flow } = record;
      const resent = flow.resent && flow.sentAtMs !== undefined && deps.now() - flow.sentAtMs < resendNoticeMs;
      const text = req.t('signUp.code.resent');
      const notice = { kind: 'success', text, duration: 'short' } as const;
      return renderVerifyEmailPage(deps, req, res, { ...found, subject, flow }, resent ? { notice } : {});
    }
    if (member && !member.user.emailVerified) {
      return renderVerifyEmailPage(deps, req, res, {
        ...found,
        subject: { kind: 'user', email: member.user.email },
        flow: undefined,
      });
    }
    if (member) return res.redirect(303, await nextAfterVerification(deps, req, at, place, member.user));
    res.redirect(303, at === 'sign-up' ? place.profile : place.signIn);
  };
}

/**
 * The continuation of the address, else that of the start of the sign-up, if its request is pending in this browser or
 * can start again there.
 */
async function storedContinuation(
  deps: SignUpDeps,
  req: Request,
  { continuation }: SignUpContext,
  stored: string,
): Promise<Continuation> {
  if (continuation.authorization !== undefined || continuation.returnTo !== undefined) return continuation;
  const current = continuationFromQuery(stored, deps.publicUrl);
  if (current.authorization === undefined || (await deps.findPendingAuthorization(req, current.authorization)))
    return current;
  return (await deps.toExpiredError(req, current)).options.redirectTo === undefined ? continuation : current;
}

/** Text and status for each wrong code (the specification's sections 5 and 8). */
function toPageState(
  req: Request,
  res: Response,
  confirmed: Exclude<VerifyEmailResult, { kind: 'confirmed' | 'not-found' }>,
): VerifyEmailPageState {
  const { t } = req;
  const notice = (text: string) => ({ kind: 'error', text, duration: 'never' }) as const;
  switch (confirmed.kind) {
    case 'incomplete':
      return { status: 400, error: t('signUp.code.incomplete') };
    case 'incorrect':
      return { status: 400, error: t('signUp.errors.code') };
    case 'invalidated':
      return { status: 400, error: t('signUp.errors.code'), notice: notice(t('signUp.errors.invalidated')) };
    case 'too-many':
      setRetryAfter(res, confirmed.retryAfterMs);
      return { status: 429, notice: notice(tooManyText(t, confirmed.retryAfterMs)) };
    case 'already-in-use':
      return { status: 409, notice: notice(t('signUp.errors.alreadyInUse')) };
    case 'disabled':
      return { status: 403, notice: notice(t('signUp.errors.disabled')) };
  }
}

function resendRefused(req: Request, res: Response, sent: SendCodeResult & { kind: 'refused' }): VerifyEmailPageState {
  const { t } = req;
  const seconds = toRetrySeconds(sent.retryAfterMs);
  setRetryAfter(res, sent.retryAfterMs);
  const tooSoon = sent.why === 'too-soon';
  const text = tooSoon ? t('signUp.code.tooSoon', { seconds }) : tooManyText(t, sent.retryAfterMs);
  return {
    status: 429,
    notice: { kind: 'error', title: t('signUp.code.failed'), text, duration: 'never' },
    ...(tooSoon && { waitSeconds: seconds }),
  };
}

/** The flow of a submitted form has expired or is unknown: the page of step 0 offers the next actions. */
function renderExpired(deps: SignUpDeps, req: Request, res: Response, place: SignUpContext): Promise<void> {
  const text = req.t('signUp.errors.expired');
  return renderProfilePage(
    deps,
    req,
    res,
    { place, prefill: { source: 'general' } },
    { problem: { text }, status: 400 },
  );
}

/** POST: a code, Resend, Start Over, Cancel. */
export function submitVerifyEmail(deps: SignUpDeps, at: VerifyEmailEntry): RequestHandler {
  async function confirm(
    req: Request,
    res: Response,
    found: VerifyEmailContext & {
      record: { id: FlowId; flow: SignUpRecord };
      subject: UnverifiedSubject;
      typed: string;
    },
  ) {
    const { record, place, typed } = found;
    const { language: lang } = req;
    const confirmed = await verifyEmail(deps, record.id, typed, { ip: req.ip ?? '', lang });
    if (confirmed.kind === 'not-found') return res.redirect(303, found.address);
    if (confirmed.kind !== 'confirmed') {
      // A useless code is removed from its field.
      const code =
        confirmed.kind === 'incorrect' || confirmed.kind === 'invalidated' ? undefined : normaliseCode(typed);
      const pageState = { ...toPageState(req, res, confirmed), ...(code !== undefined && { code }) };
      return renderVerifyEmailPage(deps, req, res, { ...found, flow: record.flow }, pageState);
    }
    const continuation = await storedContinuation(deps, req, place, confirmed.continuation);
    const { user, remember, identity } = confirmed;
    // A visitor from a provider continues in the same way, whichever page the code was typed on.
    const inSignUp = at === 'sign-up' && !identity;
    if (deps.plans.sold) await deps.plans.settleTrial(user, inSignUp ? 'sign-up' : 'post-sign-up');
    const rows = identity ? { amr: ['fed'], upstream: identity.session } : { amr: ['pwd'] };
    const entered = await deps.signIn.completeSignIn(new RequestContext(req, res, deps), user, {
      ...rows,
      remember,
      continuation,
    });
    if (entered.kind === 'second-factor-required') return res.redirect(303, entered.address);
    const postSignUp = deps.plans.sold && !inSignUp;
    if (postSignUp && user.planId !== null) return res.redirect(303, deps.nextRedirect(user, continuation).address);
    res.redirect(303, `${postSignUp ? '/post-signup/plan' : `${place.base}/verifiedCode`}${continuation.search}`);
  }

  async function resend(
    req: Request,
    res: Response,
    found: VerifyEmailContext & { record: { id: FlowId; flow: SignUpRecord }; subject: UnverifiedSubject },
  ) {
    const { language: lang } = req;
    const sent = await resendCode(deps, found.record.id, {
      lang,
      ip: req.ip ?? '',
      device: (subject) => (subject.kind === 'user' ? deps.devices.recognise(req, subject.user) : undefined),
    });
    if (sent.kind !== 'refused') return res.redirect(303, found.address);
    renderVerifyEmailPage(deps, req, res, { ...found, flow: found.record.flow }, resendRefused(req, res, sent));
  }

  return async (req, res) => {
    const [act, typed] = [readFormField(req, 'act'), readFormField(req, 'code')];
    const found = { ...(await loadContext(deps, at, req)), typed };
    if (act === 'start-over') return restartSignUp(deps, req, res, found.place.profile);
    if (act === 'cancel') return restartSignUp(deps, req, res, found.place.signIn);
    if (act !== '' && act !== 'resend') throw new HttpError('badRequest', { detail: 'unknown form action' });
    const { record, subject } = found;
    if (record && subject) {
      const known = { ...found, record, subject };
      return act === 'resend' ? resend(req, res, known) : confirm(req, res, known);
    }
    const member = await deps.sessions.getCurrentUser(req);
    if (!member) return renderExpired(deps, req, res, found.place);
    if (member.user.emailVerified)
      return res.redirect(303, await nextAfterVerification(deps, req, at, found.place, member.user));
    await startEmailVerification(deps, req, res, {
      kind: 'user',
      id: member.user.id,
      remember: member.session.remember,
    });
    res.redirect(303, found.address);
  };
}
