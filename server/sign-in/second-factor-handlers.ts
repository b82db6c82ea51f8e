import { AddressWithNotice, HttpError, type PageHandler, type RequestContext } from '../http/index.ts';
import { secondsUntilResend } from '../messages/index.ts';
import { type ChallengeMethod, methodAmr, type VerifyChallengeResult, verifyChallenge } from '../mfa/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import { sendCode } from './complete-sign-in.ts';
import { challengeExpiredNotice, findCurrentChallenge } from './current-challenge.ts';
import type { SignInDeps } from './deps.ts';
import {
  type ChallengeRequest,
  closeUrl,
  renderSecondFactorPage,
  resendRefusedText,
  type SecondFactorPageState,
  secondFactorForm,
  toPageState,
} from './second-factor-page-state.ts';

/** Without a challenge to answer a signed-in user continues; everyone else starts again and reads why. */
async function redirectWithoutChallenge(r: RequestContext, deps: SignInDeps): Promise<void> {
  const found = await deps.sessions.getCurrentUser(r.req);
  if (found) return r.redirect(deps.nextRedirect(found.user, r.continuation).address);
  r.redirect(new AddressWithNotice(`/${r.continuation.search}`, challengeExpiredNotice));
}

/** For browsers with an open challenge. */
function requireChallenge(handler: PageHandler<SignInDeps, ChallengeRequest>): PageHandler<SignInDeps> {
  return async (r, deps) => {
    const current = await findCurrentChallenge(r, deps);
    if (!current) return redirectWithoutChallenge(r, deps);
    return handler(Object.assign(r, { current }), deps);
  };
}

/** How long a notice says that a code was sent again. */
const justNowMs = 10_000;

/** GET /second-factor. */
export const showSecondFactor = requireChallenge((r, deps) => {
  const { resentAtMs } = r.current.challenge;
  const resent = resentAtMs !== undefined && deps.now() - resentAtMs < justNowMs;
  const notice = {
    kind: 'success',
    text: `${r.t('mfa.challenge.resent')} ${r.t('codes.replaced')}`,
    duration: 'short',
  } as const;
  renderSecondFactorPage(r, deps, resent ? { notice } : {});
});

const secondFactorUrl = ({ current: { continuation } }: ChallengeRequest) => `/second-factor${continuation.search}`;

/** Selects another method, and sends the code if that is SMS. */
async function changeMethod(r: ChallengeRequest, deps: SignInDeps): Promise<void> {
  const { id, challenge, user } = r.current;
  const posted = r.form(secondFactorForm).values?.method;
  const method = r.current.methods.find((one) => one === posted);
  if (method === undefined) throw new HttpError('badRequest', { detail: 'second factor method not available' });
  let { sentAtMs } = challenge;
  if (method === 'sms' && secondsUntilResend(sentAtMs, deps.now()) === 0)
    sentAtMs = await sendCode(r, deps, { user, id });
  await deps.mfa.challenges.update(id, { ...challenge, method, sentAtMs, resentAtMs: undefined });
  r.redirect(secondFactorUrl(r));
}

async function resend(r: ChallengeRequest, deps: SignInDeps): Promise<void> {
  const { id, challenge, user } = r.current;
  if (!r.current.methods.includes('sms')) throw new HttpError('badRequest', { detail: 'no SMS codes for this user' });
  const owner = { flow: id, device: deps.devices.recognise(r.req, user) };
  const sent = await deps.mfa.smsCodes.send(user, owner, { lang: r.lang, ip: r.ip });
  if (!sent.sent) return renderSecondFactorPage(r, deps, resendRefusedText(r, sent));
  const nowMs = deps.now();
  await deps.mfa.challenges.update(id, { ...challenge, method: 'sms', sentAtMs: nowMs, resentAtMs: nowMs });
  r.redirect(secondFactorUrl(r));
}

async function cancel(r: ChallengeRequest, deps: SignInDeps): Promise<void> {
  await deps.mfa.challenges.consume(r.current.id);
  deps.mfa.challenges.clear(r.res);
  r.redirect(closeUrl(r.current));
}

async function completeChallenge(
  r: ChallengeRequest,
  deps: SignInDeps,
  {
    user,
    challenge,
    method,
    rememberDevice,
  }: Extract<VerifyChallengeResult, { kind: 'passed' }> & { method: ChallengeMethod; rememberDevice: boolean },
): Promise<void> {
  deps.mfa.challenges.clear(r.res);
  const amr = [...new Set([...challenge.amr, methodAmr[method], 'mfa'])];
  const { remember, upstream } = challenge;
  await deps.sessions.createSession(r, user, { amr, remember, upstream });
  if (challenge.intent === 'sign-in' && rememberDevice) {
    await deps.mfa.remembered.remember(r.req, r.res, user);
  }
  r.redirect(deps.nextRedirect(user, r.current.continuation).address);
}

/** A code: the right one completes the sign-in. */
async function verifyCode(r: ChallengeRequest, deps: SignInDeps): Promise<void> {
  const { id, challenge, user, continuation } = r.current;
  const { values } = r.form(secondFactorForm);
  const { code: typed = '', rememberDevice = false } = values ?? {};
  // The form names the method that it showed; another tab may have changed it since.
  const method = values?.method ?? challenge.method;
  const from = { ...r.origin, device: deps.devices.recognise(r.req, user) };
  const passed = await verifyChallenge(deps.mfa, id, { method, typed, from });
  const outcome = passed.kind === 'expired' ? 'over' : toPublicOutcome(passed.kind);
  r.log.info({ act: 'second-factor', method, outcome }, 'second factor');
  deps.metrics.signIn(method, passed.kind === 'passed' ? 'signed-in' : outcome);
  if (passed.kind === 'passed') return completeChallenge(r, deps, { ...passed, method, rememberDevice });
  if (passed.kind === 'expired') {
    deps.mfa.challenges.clear(r.res);
    if (challenge.intent === 'sign-in') return redirectWithoutChallenge(r, deps);
    return r.redirect(new AddressWithNotice(`/re-authenticate${continuation.search}`, challengeExpiredNotice));
  }
  await deps.hooks.onSignInRefused({ userId: user.id, method, ip: r.ip });
  if (passed.kind === 'too-many') deps.metrics.guessRefused(passed.limit);
  const state: SecondFactorPageState = toPageState(r, passed, method);
  renderSecondFactorPage(r, deps, { ...state, rememberDevice, method });
}

const answer = requireChallenge((r, deps) => {
  switch (r.field('act')) {
    case '':
      return verifyCode(r, deps);
    case 'use':
      return changeMethod(r, deps);
    case 'resend':
      return resend(r, deps);
    case 'cancel':
      return cancel(r, deps);
    default:
      throw new HttpError('badRequest', { detail: 'unknown form action' });
  }
});

/** POST /second-factor: a code, a new code, another method, or cancel. */
export function submitSecondFactor(r: RequestContext, deps: SignInDeps) {
  // Reads all fields first, so that a malformed form is always an error.
  r.field('act');
  r.form(secondFactorForm);
  return answer(r, deps);
}
