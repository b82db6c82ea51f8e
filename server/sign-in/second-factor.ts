import type { Request, RequestHandler, Response } from 'express';
import { resendWaitMs } from '../codes/index.ts';
import { errandOf, field, HttpError } from '../http/index.ts';
import { amrOf, type Method, methods, type Passed } from '../mfa/index.ts';
import { originOf } from '../session/index.ts';
import type { SignInDeps } from './deps.ts';
import { sendCode } from './entrance.ts';
import {
  closeHrefOf,
  refusedText,
  resendRefusedText,
  type SecondFactorShown,
  sendSecondFactorPage,
} from './second-factor-form.ts';
import { overNotice, type Standing, standingOf } from './second-factor-standing.ts';

/** There is nothing to answer here: a member who is signed in goes on, everyone else begins anew and reads why. */
async function sendElsewhere(deps: SignInDeps, req: Request, res: Response): Promise<void> {
  const errand = errandOf(req, deps.publicUrl);
  const member = await deps.sessions.member(req);
  if (member) return res.redirect(303, deps.wayOn(member.user, errand).address);
  res.redirect(303, `/?${overQuery(errand.search)}`);
}

function overQuery(search: string): URLSearchParams {
  const query = new URLSearchParams(search);
  query.set('notice', overNotice);
  return query;
}

/** A notice shows that a code was sent again for as long as somebody may just have asked for it. */
const justNowMs = 10_000;

/** GET /second-factor. */
export function showSecondFactor(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const standing = await standingOf(deps, req);
    if (!standing) return sendElsewhere(deps, req, res);
    const { resentAtMs } = standing.challenge;
    const resent = resentAtMs !== undefined && deps.now() - resentAtMs < justNowMs;
    const { t } = req;
    const notice = { kind: 'success', text: t('mfa.challenge.resent'), passing: true } as const;
    sendSecondFactorPage(deps, req, res, standing, resent ? { notice } : {});
  };
}

const addressOf = ({ errand }: Standing) => `/second-factor${errand.search}`;

/** Another method; where that is a code by SMS, it is sent. */
async function change(deps: SignInDeps, req: Request, res: Response, standing: Standing): Promise<void> {
  const { id, challenge, user } = standing;
  const wanted = field(req, 'method');
  const method = standing.methods.find((one) => one === wanted);
  if (method === undefined) throw new HttpError('badRequest', { detail: 'a method that the member does not have' });
  let { sentAtMs } = challenge;
  const waits = sentAtMs !== undefined && deps.now() - sentAtMs < resendWaitMs;
  if (method === 'sms' && !waits) sentAtMs = await sendCode(deps, req, user, id);
  await deps.mfa.challenges.keep(id, { ...challenge, method, sentAtMs, resentAtMs: undefined });
  res.redirect(303, addressOf(standing));
}

async function resend(deps: SignInDeps, req: Request, res: Response, standing: Standing): Promise<void> {
  const { id, challenge, user } = standing;
  if (!standing.methods.includes('sms'))
    throw new HttpError('badRequest', { detail: 'no code is sent to this member' });
  const { language: lang } = req;
  const owner = { flow: id, device: deps.devices.recognise(req, user) };
  const sent = await deps.mfa.smsCodes.send(user, owner, { lang, ip: req.ip ?? '' });
  if (!sent.sent) {
    return sendSecondFactorPage(deps, req, res, standing, resendRefusedText(req, res, sent));
  }
  const nowMs = deps.now();
  await deps.mfa.challenges.keep(id, { ...challenge, method: 'sms', sentAtMs: nowMs, resentAtMs: nowMs });
  res.redirect(303, addressOf(standing));
}

async function cancel(deps: SignInDeps, res: Response, standing: Standing): Promise<void> {
  await deps.mfa.challenges.take(standing.id);
  deps.mfa.challenges.clear(res);
  res.redirect(303, closeHrefOf(standing));
}

async function signIn(
  deps: SignInDeps,
  req: Request,
  res: Response,
  { errand }: Standing,
  { user, challenge, method }: Extract<Passed, { kind: 'passed' }> & { method: Method },
): Promise<void> {
  deps.mfa.challenges.clear(res);
  const amr = [...new Set([...challenge.amr, amrOf[method], 'mfa'])];
  await deps.sessions.begin(req, res, user, { amr, remember: challenge.remember, upstream: challenge.upstream });
  if (challenge.intent === 'sign-in' && field(req, 'rememberDevice') === '1') {
    await deps.mfa.remembered.remember(req, res, user);
  }
  await deps.devices.remember(req, res, user);
  res.redirect(303, deps.wayOn(user, errand).address);
}

/** POST /second-factor: a code, another one, another method, or none. */
export function submitSecondFactor(deps: SignInDeps): RequestHandler {
  async function answer(req: Request, res: Response, standing: Standing): Promise<void> {
    const typed = field(req, 'code').trim();
    // The page that was sent says what it asked for; another tab may have changed it since.
    const posted = field(req, 'method');
    const method = methods.find((one) => one === posted) ?? standing.challenge.method;
    const from = { ...originOf(req), device: deps.devices.recognise(req, standing.user) };
    const passed = await deps.mfa.pass(standing.id, { method, typed }, from);
    deps.log.info({ act: 'second-factor', method, outcome: passed.kind }, 'second factor');
    deps.metrics.signIn(method, passed.kind === 'passed' ? 'signed-in' : passed.kind);
    if (passed.kind === 'passed') return signIn(deps, req, res, standing, { ...passed, method });
    if (passed.kind === 'over') {
      deps.mfa.challenges.clear(res);
      if (standing.challenge.intent === 'sign-in') return sendElsewhere(deps, req, res);
      return res.redirect(303, `/re-authenticate?${overQuery(standing.errand.search)}`);
    }
    if (passed.kind === 'too-many') deps.metrics.guessRefused(passed.limit);
    const shown: SecondFactorShown = refusedText(req, res, passed, method);
    const remember = { rememberDevice: field(req, 'rememberDevice') === '1' };
    sendSecondFactorPage(deps, req, res, standing, { ...shown, ...remember, method });
  }

  return async (req, res) => {
    // All of them first: a form that is broken is refused, whoever sends it.
    const [act] = ['act', 'code', 'method', 'rememberDevice'].map((name) => field(req, name));
    const standing = await standingOf(deps, req);
    if (!standing) return sendElsewhere(deps, req, res);
    switch (act) {
      case '':
        return answer(req, res, standing);
      case 'use':
        return change(deps, req, res, standing);
      case 'resend':
        return resend(deps, req, res, standing);
      case 'cancel':
        return cancel(deps, res, standing);
      default:
        throw new HttpError('badRequest', { detail: 'act is none of this page' });
    }
  };
}
