import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { CodePage, type CodePageProps } from '../../views/sign-up/code-page.tsx';
import type { User } from '../account/index.ts';
import { wholeCode } from '../codes/index.ts';
import {
  type Errand,
  errandOfSearch,
  field,
  HttpError,
  retrySeconds,
  setRetryAfter,
  withErrand,
} from '../http/index.ts';
import { type Confirmed, confirmSignUp } from './confirm.ts';
import { beginConfirmation } from './confirmations.ts';
import type { SignUpDeps } from './deps.ts';
import { type Flow, flowOf } from './flows.ts';
import { type Place, placeOf } from './place.ts';
import { sendProfilePage } from './profile-step.ts';
import { resendCode, resendSeconds, type Sent } from './resend.ts';
import type { SignUp } from './sign-up-store.ts';
import { startOver } from './start-over.ts';
import { tooManyText } from './texts.ts';
import { type Unconfirmed, unconfirmedOf } from './unconfirmed.ts';
import { wayOnFrom } from './verified-step.ts';

/** The same page stands in the sign-up, in the post-signup flow and, after a sign-in, at an address of its own. */
export type CodePlace = 'sign-up' | 'verify-code' | 'post-signup';

interface Here {
  at: CodePlace;
  place: Place;
  /** Of this very page. */
  address: string;
  own: { id: string; flow: Flow } | undefined;
  whom: Unconfirmed | undefined;
}

type Shown = Partial<Pick<CodePageProps, 'code' | 'error' | 'notice' | 'waitSeconds'>> & { status?: number };

/** A notice shows that a code was sent again for as long as somebody may just have asked for it. */
const justNowMs = 10_000;

async function here(deps: SignUpDeps, at: CodePlace, req: Request): Promise<Here> {
  const place = await placeOf(deps, req);
  const { search } = place.errand;
  const addresses = {
    'sign-up': place.code,
    'verify-code': `/verify-code${search}`,
    'post-signup': `/post-signup/security${search}`,
  };
  const address = addresses[at];
  const own = await flowOf(deps.flows, req);
  const whom = own && (await unconfirmedOf(deps, own.flow));
  return { at, place, address, own, whom };
}

function sendCodePage(
  deps: SignUpDeps,
  req: Request,
  res: Response,
  {
    at,
    place,
    address,
    whom,
    flow,
  }: Omit<Here, 'whom'> & { whom: Pick<Unconfirmed, 'email' | 'kind'> & { signUp?: SignUp }; flow: Flow | undefined },
  given: Shown = {},
): void {
  const said = deps.pages.shownAt(req, res, address, given);
  if (!said) return;
  const { status = 200, waitSeconds, ...shown } = said;
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(CodePage, {
        ctx: withErrand(ctx, place.errand.search),
        action: address,
        signInHref: place.signIn,
        email: whom.email,
        backHref: whom.kind === 'sign-up' && whom.signUp?.identity === null ? place.profile : undefined,
        steps: at === 'post-signup' ? at : at === 'sign-up',
        unsent: flow?.sentAtMs === undefined,
        waitSeconds: waitSeconds ?? (flow ? resendSeconds(flow, deps.now()) : 0),
        ...shown,
      }),
    { title: (ctx) => ctx.t('signUp.code.title'), address },
  );
}

/** For members who have nothing to confirm (any more): in the post-signup flow the step PLAN, while they have none. */
async function nextAfter(deps: SignUpDeps, req: Request, at: CodePlace, place: Place, user: User): Promise<string> {
  if (at === 'sign-up') return wayOnFrom(deps, req, place, user);
  if (at === 'post-signup' && user.planId === null) return `/post-signup/plan${place.errand.search}`;
  return deps.wayOn(user, place.errand).address;
}

/** GET: the page for whom there is something to confirm; everybody else goes to where they belong. */
export function showCode(deps: SignUpDeps, at: CodePlace): RequestHandler {
  return async (req, res) => {
    const found = await here(deps, at, req);
    const { own, whom, place } = found;
    const member = await deps.sessions.member(req);
    if (own && whom) {
      const { flow } = own;
      const resent = flow.resent && flow.sentAtMs !== undefined && deps.now() - flow.sentAtMs < justNowMs;
      const text = req.t('signUp.code.resent');
      const notice = { kind: 'success', text, duration: 'short' } as const;
      return sendCodePage(deps, req, res, { ...found, whom, flow }, resent ? { notice } : {});
    }
    if (member && !member.user.emailVerified) {
      return sendCodePage(deps, req, res, {
        ...found,
        whom: { kind: 'user', email: member.user.email },
        flow: undefined,
      });
    }
    if (member) return res.redirect(303, await nextAfter(deps, req, at, place, member.user));
    res.redirect(303, at === 'sign-up' ? place.profile : place.signIn);
  };
}

/**
 * The errand of the address, else the one that the account was begun with, if its request waits in this very browser, or
 * begins again there.
 */
async function errandAfter(deps: SignUpDeps, req: Request, { errand }: Place, stored: string): Promise<Errand> {
  if (errand.authorization !== undefined || errand.returnTo !== undefined) return errand;
  const kept = errandOfSearch(stored, deps.publicUrl);
  if (kept.authorization === undefined || (await deps.pendingRequest(req, kept.authorization))) return kept;
  return (await deps.requestOver(req, kept)).options.instead === undefined ? errand : kept;
}

/** Which text and status stand for what was wrong with a code (the specification's sections 5 and 8). */
function refused(req: Request, res: Response, confirmed: Exclude<Confirmed, { kind: 'confirmed' | 'gone' }>): Shown {
  const { t } = req;
  const notice = (text: string) => ({ kind: 'error', text, duration: 'never' }) as const;
  switch (confirmed.kind) {
    case 'incomplete':
      return { status: 400, error: t('signUp.code.incomplete') };
    case 'wrong':
      return { status: 400, error: t('signUp.errors.code') };
    case 'void':
      return { status: 400, error: t('signUp.errors.code'), notice: notice(t('signUp.errors.void')) };
    case 'too-many':
      setRetryAfter(res, confirmed.retryAfterMs);
      return { status: 429, notice: notice(tooManyText(t, confirmed.retryAfterMs)) };
    case 'taken':
      return { status: 409, notice: notice(t('signUp.errors.taken')) };
    case 'disabled':
      return { status: 403, notice: notice(t('signUp.errors.disabled')) };
  }
}

function resendRefused(req: Request, res: Response, sent: Sent & { kind: 'refused' }): Shown {
  const { t } = req;
  const seconds = retrySeconds(sent.retryAfterMs);
  setRetryAfter(res, sent.retryAfterMs);
  const tooSoon = sent.why === 'wait';
  const text = tooSoon ? t('signUp.code.tooSoon', { seconds }) : tooManyText(t, sent.retryAfterMs);
  return {
    status: 429,
    notice: { kind: 'error', title: t('signUp.code.failed'), text, duration: 'never' },
    ...(tooSoon && { waitSeconds: seconds }),
  };
}

/** The flow of a form that was sent is over or unknown: what the visitor can do is on the page of step 0. */
function sendGone(deps: SignUpDeps, req: Request, res: Response, place: Place): Promise<void> {
  const text = req.t('signUp.errors.gone');
  return sendProfilePage(deps, req, res, { place, prefill: { source: 'general' } }, { problem: { text }, status: 400 });
}

/** POST: a code, Resend, Start Over, Cancel. */
export function submitCode(deps: SignUpDeps, at: CodePlace): RequestHandler {
  async function confirm(
    req: Request,
    res: Response,
    found: Here & { own: { id: string; flow: Flow }; whom: Unconfirmed; typed: string },
  ) {
    const { own, place, typed } = found;
    const { language: lang } = req;
    const confirmed = await confirmSignUp(deps, own.id, typed, { ip: req.ip ?? '', lang });
    if (confirmed.kind === 'gone') return res.redirect(303, found.address);
    if (confirmed.kind !== 'confirmed') {
      // One that is of no use leaves its field to the next.
      const code = confirmed.kind === 'wrong' || confirmed.kind === 'void' ? undefined : wholeCode(typed);
      const shown = { ...refused(req, res, confirmed), ...(code !== undefined && { code }) };
      return sendCodePage(deps, req, res, { ...found, flow: own.flow }, shown);
    }
    const errand = await errandAfter(deps, req, place, confirmed.errand);
    const { user, remember, identity } = confirmed;
    // Whoever came by a provider goes the same way on, at whichever page the code was typed.
    const inSignUp = at === 'sign-up' && !identity;
    if (deps.plans.sold) await deps.plans.settleTrial(user, inSignUp ? 'sign-up' : 'post-sign-up');
    const shown = identity ? { amr: ['fed'], upstream: identity.session } : { amr: ['pwd'] };
    const entered = await deps.entrance.enter(req, res, user, { ...shown, remember, errand });
    if (entered.kind === 'challenged') return res.redirect(303, entered.address);
    const postSignUp = deps.plans.sold && !inSignUp;
    if (postSignUp && user.planId !== null) return res.redirect(303, deps.wayOn(user, errand).address);
    res.redirect(303, `${postSignUp ? '/post-signup/plan' : `${place.base}/verifiedCode`}${errand.search}`);
  }

  async function resend(
    req: Request,
    res: Response,
    found: Here & { own: { id: string; flow: Flow }; whom: Unconfirmed },
  ) {
    const { language: lang } = req;
    const sent = await resendCode(deps, found.own.id, {
      lang,
      ip: req.ip ?? '',
      device: (whom) => (whom.kind === 'user' ? deps.devices.recognise(req, whom.user) : undefined),
    });
    if (sent.kind !== 'refused') return res.redirect(303, found.address);
    sendCodePage(deps, req, res, { ...found, flow: found.own.flow }, resendRefused(req, res, sent));
  }

  return async (req, res) => {
    const [act, typed] = [field(req, 'act'), field(req, 'code')];
    const found = { ...(await here(deps, at, req)), typed };
    if (act === 'start-over') return startOver(deps, req, res, found.place.profile);
    if (act === 'cancel') return startOver(deps, req, res, found.place.signIn);
    if (act !== '' && act !== 'resend') throw new HttpError('badRequest', { detail: 'act is none of this page' });
    const { own, whom } = found;
    if (own && whom) {
      const known = { ...found, own, whom };
      return act === 'resend' ? resend(req, res, known) : confirm(req, res, known);
    }
    const member = await deps.sessions.member(req);
    if (!member) return sendGone(deps, req, res, found.place);
    if (member.user.emailVerified) return res.redirect(303, await nextAfter(deps, req, at, found.place, member.user));
    await beginConfirmation(deps, req, res, { kind: 'user', id: member.user.id, remember: member.session.remember });
    res.redirect(303, found.address);
  };
}
