import type { Request, RequestHandler, Response } from 'express';
import { resendWaitMs } from '../codes/index.ts';
import { continuationFrom, HttpError, readFormField } from '../http/index.ts';
import { type ChallengeMethod, methodAmr, methods, type VerifyChallengeResult } from '../mfa/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import { sendCode } from './complete-sign-in.ts';
import { type CurrentChallenge, challengeExpiredNotice, findCurrentChallenge } from './current-challenge.ts';
import type { SignInDeps } from './deps.ts';
import {
  closeUrl,
  renderSecondFactorPage,
  resendRefusedText,
  type SecondFactorPageState,
  toPageState,
} from './second-factor-page-state.ts';

/** There is no challenge to answer: a signed-in user continues, everyone else starts again and reads why. */
async function sendElsewhere(deps: SignInDeps, req: Request, res: Response): Promise<void> {
  const continuation = continuationFrom(req, deps.publicUrl);
  const member = await deps.sessions.getCurrentUser(req);
  if (member) return res.redirect(303, deps.nextRedirect(member.user, continuation).address);
  res.redirect(303, `/?${overQuery(continuation.search)}`);
}

function overQuery(search: string): URLSearchParams {
  const query = new URLSearchParams(search);
  query.set('notice', challengeExpiredNotice);
  return query;
}

/** How long a notice says that a code was sent again. */
const justNowMs = 10_000;

/** GET /second-factor. */
export function showSecondFactor(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const currentChallenge = await findCurrentChallenge(deps, req);
    if (!currentChallenge) return sendElsewhere(deps, req, res);
    const { resentAtMs } = currentChallenge.challenge;
    const resent = resentAtMs !== undefined && deps.now() - resentAtMs < justNowMs;
    const { t } = req;
    const notice = { kind: 'success', text: t('mfa.challenge.resent'), passing: true } as const;
    renderSecondFactorPage(deps, req, res, currentChallenge, resent ? { notice } : {});
  };
}

const secondFactorUrl = ({ continuation }: CurrentChallenge) => `/second-factor${continuation.search}`;

/** Selects another method, and sends the code if that is SMS. */
async function change(
  deps: SignInDeps,
  req: Request,
  res: Response,
  currentChallenge: CurrentChallenge,
): Promise<void> {
  const { id, challenge, user } = currentChallenge;
  const expected = readFormField(req, 'method');
  const method = currentChallenge.methods.find((one) => one === expected);
  if (method === undefined) throw new HttpError('badRequest', { detail: 'second factor method not available' });
  let { sentAtMs } = challenge;
  const waits = sentAtMs !== undefined && deps.now() - sentAtMs < resendWaitMs;
  if (method === 'sms' && !waits) sentAtMs = await sendCode(deps, req, user, id);
  await deps.mfa.challenges.update(id, { ...challenge, method, sentAtMs, resentAtMs: undefined });
  res.redirect(303, secondFactorUrl(currentChallenge));
}

async function resend(
  deps: SignInDeps,
  req: Request,
  res: Response,
  currentChallenge: CurrentChallenge,
): Promise<void> {
  const { id, challenge, user } = currentChallenge;
  if (!currentChallenge.methods.includes('sms'))
    throw new HttpError('badRequest', { detail: 'no SMS codes for this user' });
  const { language: lang } = req;
  const owner = { flow: id, device: deps.devices.recognise(req, user) };
  const sent = await deps.mfa.smsCodes.send(user, owner, { lang, ip: req.ip ?? '' });
  if (!sent.sent) {
    return renderSecondFactorPage(deps, req, res, currentChallenge, resendRefusedText(req, res, sent));
  }
  const nowMs = deps.now();
  await deps.mfa.challenges.update(id, { ...challenge, method: 'sms', sentAtMs: nowMs, resentAtMs: nowMs });
  res.redirect(303, secondFactorUrl(currentChallenge));
}

async function cancel(deps: SignInDeps, res: Response, currentChallenge: CurrentChallenge): Promise<void> {
  await deps.mfa.challenges.consume(currentChallenge.id);
  deps.mfa.challenges.clear(res);
  res.redirect(303, closeUrl(currentChallenge));
}

async function completeChallenge(
  deps: SignInDeps,
  req: Request,
  res: Response,
  { continuation }: CurrentChallenge,
  { user, challenge, method }: Extract<VerifyChallengeResult, { kind: 'passed' }> & { method: ChallengeMethod },
): Promise<void> {
  deps.mfa.challenges.clear(res);
  const amr = [...new Set([...challenge.amr, methodAmr[method], 'mfa'])];
  await deps.sessions.createSession(req, res, user, {
    amr,
    remember: challenge.remember,
    upstream: challenge.upstream,
  });
  if (challenge.intent === 'sign-in' && readFormField(req, 'rememberDevice') === '1') {
    await deps.mfa.remembered.remember(req, res, user);
  }
  await deps.devices.remember(req, res, user);
  res.redirect(303, deps.nextRedirect(user, continuation).address);
}

/** POST /second-factor: a code, a new code, another method, or cancel. */
export function submitSecondFactor(deps: SignInDeps): RequestHandler {
  async function answer(req: Request, res: Response, currentChallenge: CurrentChallenge): Promise<void> {
    const typed = readFormField(req, 'code').trim();
    // The form names the method that it showed; another tab may have changed it since.
    const posted = readFormField(req, 'method');
    const method = methods.find((one) => one === posted) ?? currentChallenge.challenge.method;
    const from = { ...getRequestOrigin(req), device: deps.devices.recognise(req, currentChallenge.user) };
    const passed = await deps.mfa.pass(currentChallenge.id, { method, typed }, from);
    const outcome = passed.kind === 'expired' ? 'over' : toPublicOutcome(passed.kind);
    deps.log.info({ act: 'second-factor', method, outcome }, 'second factor');
    deps.metrics.signIn(method, passed.kind === 'passed' ? 'signed-in' : outcome);
    if (passed.kind === 'passed') return completeChallenge(deps, req, res, currentChallenge, { ...passed, method });
    if (passed.kind === 'expired') {
      deps.mfa.challenges.clear(res);
      if (currentChallenge.challenge.intent === 'sign-in') return sendElsewhere(deps, req, res);
      return res.redirect(303, `/re-authenticate?${overQuery(currentChallenge.continuation.search)}`);
    }
    if (passed.kind === 'too-many') deps.metrics.guessRefused(passed.limit);
    const state: SecondFactorPageState = toPageState(req, res, passed, method);
    const remember = { rememberDevice: readFormField(req, 'rememberDevice') === '1' };
    renderSecondFactorPage(deps, req, res, currentChallenge, { ...state, ...remember, method });
  }

  return async (req, res) => {
    // Reads all fields first, so that a malformed form is always an error.
    const [act] = ['act', 'code', 'method', 'rememberDevice'].map((name) => readFormField(req, name));
    const currentChallenge = await findCurrentChallenge(deps, req);
    if (!currentChallenge) return sendElsewhere(deps, req, res);
    switch (act) {
      case '':
        return answer(req, res, currentChallenge);
      case 'use':
        return change(deps, req, res, currentChallenge);
      case 'resend':
        return resend(deps, req, res, currentChallenge);
      case 'cancel':
        return cancel(deps, res, currentChallenge);
      default:
        throw new HttpError('badRequest', { detail: 'unknown form action' });
    }
  };
}
