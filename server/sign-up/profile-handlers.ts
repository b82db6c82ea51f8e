import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import type { PageContext } from '../../views/page-context.ts';
import { passwordStrength } from '../../views/parts/password-strength.ts';
import { ProfilePage, type ProfilePageProps } from '../../views/sign-up/profile-page.tsx';
import { noticeText, readNotice, toProviderButtons } from '../federation/index.ts';
import {
  HttpError,
  readFormField,
  setRetryAfter,
  toRetrySeconds,
  unavailableRetrySeconds,
  withContinuation,
} from '../http/index.ts';
import { type Busy, hashForPage } from '../password/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import { hasPartnerDeal } from '../users/index.ts';
import type { SignUpDeps } from './deps.ts';
import { consumePartnerCheck } from './limits.ts';
import {
  loadSignUpContext,
  type Prefill,
  prefillFromForm,
  prefillFromQuery,
  profilePageUrl,
  type SignUpContext,
} from './sign-up-context.ts';
import { findSignUpRecord } from './sign-up-records.ts';
import { faultTexts, tooManyText } from './sign-up-texts.ts';
import { restartSignUp } from './start-over.ts';
import {
  type StartSignUpInput,
  type StartSignUpRefusal,
  type StartSignUpResult,
  startSignUp,
} from './start-sign-up.ts';
import { findUnverifiedSubject, type UnverifiedSubject } from './unverified-subject.ts';
import { nextSignUpStep } from './verified-handlers.ts';

type ProfilePageState = Partial<Pick<ProfilePageProps, 'values' | 'errors' | 'problem' | 'met' | 'providerNotice'>> & {
  status?: number;
};

/** Tests whether this browser has a sign-up whose address can still be confirmed. */
async function hasStartedSignUp(
  deps: SignUpDeps,
  req: Request,
): Promise<(UnverifiedSubject & { kind: 'sign-up' }) | undefined> {
  const own = await findSignUpRecord(deps.flows, req);
  const recipient = own && (await findUnverifiedSubject(deps, own.flow));
  return recipient?.kind === 'sign-up' ? recipient : undefined;
}

/** The address of the plan is passed on: the step PLAN follows the provider. */
function providerButtonsForSignUp(
  deps: SignUpDeps,
  req: Request,
  { continuation, pendingAuthorization, planKey }: SignUpContext,
  { lang, t }: PageContext,
) {
  const parameters = new URLSearchParams(continuation.search);
  if (planKey !== null) parameters.set('planHash', planKey);
  return toProviderButtons(
    deps.providers(),
    { lang, t, userAgent: req.get('user-agent') },
    {
      search: parameters.size > 0 ? `?${parameters}` : '',
      clientLabel: pendingAuthorization?.clientName ?? new URL(deps.publicUrl).host,
      signUp: true,
    },
  );
}

export async function renderProfilePage(
  deps: SignUpDeps,
  req: Request,
  res: Response,
  { place, prefill }: { place: SignUpContext; prefill: Prefill },
  state: ProfilePageState,
): Promise<void> {
  const address = profilePageUrl(place, prefill);
  const pageState = deps.pages.shownAt(req, res, address, state);
  if (!pageState) return;
  const { values, errors = {}, problem, met, providerNotice, status = 200 } = pageState;
  const started = await hasStartedSignUp(deps, req);
  const stored = {
    given_name: started?.signUp.givenName ?? '',
    family_name: started?.signUp.familyName ?? '',
    email: prefill.email ?? started?.email ?? '',
  };
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(ProfilePage, {
        ctx: withContinuation(ctx, place.continuation.search),
        action: place.profile,
        signInHref: place.signIn,
        values: values ?? stored,
        lockedEmail: prefill.source === 'appsumo',
        hidden: {
          terms: String(deps.legal.version.number),
          ...(prefill.source !== 'general' && { from: prefill.source }),
        },
        errors,
        ...(problem && { problem }),
        ...(met && { met }),
        providerNotice,
        ...(started && { resumableSignUp: { email: started.email, href: place.code } }),
        ...(place.pendingAuthorization && { clientName: place.pendingAuthorization.clientName }),
        // A partner's deal belongs to the address that the partner named.
        providerButtons: prefill.source === 'appsumo' ? undefined : providerButtonsForSignUp(deps, req, place, ctx),
      }),
    { title: (ctx) => ctx.t('signUp.title'), address },
  );
}

/** Tests whether a visitor from the partner has a deal; limited by network. */
async function hasPartnerDealAhead({ database, kv }: SignUpDeps, req: Request, email: string): Promise<boolean> {
  const decision = await consumePartnerCheck(kv, req.ip ?? '');
  if (!decision.allowed) {
    throw new HttpError('tooMany', { retryAfterSeconds: toRetrySeconds(decision.retryAfterMs) });
  }
  return hasPartnerDeal(database, email);
}

/** Tests whether the pending request is over and cannot start again: otherwise it starts after the sign-up. */
async function isLost(
  deps: SignUpDeps,
  req: Request,
  { continuation, pendingAuthorization }: SignUpContext,
): Promise<boolean> {
  if (continuation.authorization === undefined || pendingAuthorization) return false;
  return (await deps.toExpiredError(req, continuation)).options.redirectTo === undefined;
}

/** GET /signup: a signed-in user continues, everyone else sees the form, with their earlier input. */
export function showProfile(deps: SignUpDeps): RequestHandler {
  return async (req, res) => {
    const place = await loadSignUpContext(deps, req);
    const member = await deps.sessions.getCurrentUser(req);
    const prefill = prefillFromQuery(req);
    // A user who is already signed in, perhaps in another tab, still reads why the form was refused.
    if (member && !deps.pages.isRefused(req, profilePageUrl(place, prefill)))
      return res.redirect(303, await nextSignUpStep(deps, req, place, member.user));
    if (prefill.source === 'appsumo' && !(await hasPartnerDealAhead(deps, req, prefill.email ?? ''))) {
      return res.redirect(303, place.profile);
    }
    if (await isLost(deps, req, place)) {
      const text = req.t('signIn.errors.requestExpired');
      const none = {
        ...place,
        errand: { search: '' },
        profile: place.base,
        signIn: '/',
        code: `${place.base}/emailCaptured`,
      };
      return renderProfilePage(deps, req, res, { place: none, prefill }, { problem: { text }, status: 400 });
    }
    const ended = readNotice(req, deps.providers());
    const providerNotice = ended && noticeText(req.t, ended);
    await renderProfilePage(deps, req, res, { place, prefill }, { providerNotice });
  };
}

/** Text and status for each refusal (the specification's sections 5 and 8). */
function refused(req: Request, res: Response, refusal: StartSignUpRefusal): ProfilePageState {
  const { t } = req;
  const title = t('signUp.errors.failed');
  switch (refusal.kind) {
    case 'invalid':
      return { status: 400, ...faultTexts(t, refusal.faults) };
    case 'already-in-use':
      return { status: 409, errors: { email: t('signUp.errors.alreadyInUse') } };
    case 'no-deal':
      return { status: 400, problem: { title, text: t('signUp.errors.validation') } };
    case 'too-many':
      setRetryAfter(res, refusal.retryAfterMs);
      return { status: 429, problem: { title, text: tooManyText(t, refusal.retryAfterMs) } };
  }
}

/** The answer while the server is busy: the form with everything but the password. */
function busy(req: Request, status: number): ProfilePageState {
  const { t } = req;
  return { status, problem: { title: t('signUp.errors.failed'), text: t('signUp.errors.busy') } };
}

function toUnavailableState(deps: SignUpDeps, req: Request, res: Response, error: unknown): ProfilePageState {
  if (!(error instanceof StoreUnavailable)) throw error;
  const { t } = req;
  const title = t('signUp.errors.failed');
  deps.log.warn({ err: error }, 'sign-up failed: store unavailable');
  setRetryAfter(res, unavailableRetrySeconds * 1000);
  return { status: 503, problem: { title, text: t('signUp.errors.unavailable') } };
}

/** POST /signup: starts a sign-up and mails its code, or starts over. */
export function submitProfile(deps: SignUpDeps): RequestHandler {
  return async (req, res) => {
    const place = await loadSignUpContext(deps, req);
    const act = readFormField(req, 'act');
    if (act === 'start-over') return restartSignUp(deps, req, res, place.profile);
    if (act !== '') throw new HttpError('badRequest', { detail: 'unknown form action' });
    const { language: lang } = req;
    const prefill = prefillFromForm(req);
    const values = {
      given_name: readFormField(req, 'given_name'),
      family_name: readFormField(req, 'family_name'),
      email: readFormField(req, 'email'),
    };
    const typed = {
      givenName: values.given_name,
      familyName: values.family_name,
      email: values.email,
      password: readFormField(req, 'password'),
    };
    const terms = readFormField(req, 'terms');

    const sendAgain = (pageState: ProfilePageState) =>
      renderProfilePage(deps, req, res, { place, prefill }, { values, ...pageState });
    let started: StartSignUpResult | Busy;
    try {
      const input: StartSignUpInput = {
        ...typed,
        lang,
        source: prefill.source,
        planKey: place.planKey,
        termsVersion: /^\d{1,9}$/.test(terms) ? Number(terms) : undefined,
        continuation: place.continuation.search,
        from: {
          ip: req.ip ?? '',
          userAgent: req.get('user-agent') ?? null,
          clientId: place.pendingAuthorization?.clientId ?? null,
        },
      };
      started = await hashForPage(res, deps, () => startSignUp(deps, input));
    } catch (error) {
      return sendAgain(toUnavailableState(deps, req, res, error));
    }
    if (started.kind === 'busy') return sendAgain(busy(req, started.status));
    if (started.kind === 'refused') {
      const { refusal } = started;
      // As specified: the page is loaded again, as for everyone else.
      if (refusal.kind === 'no-deal') return res.redirect(303, place.profile);
      const met = typed.password === '' ? {} : { met: passwordStrength(typed.password, typed) };
      return sendAgain({ ...met, ...refused(req, res, refusal) });
    }
    await deps.flows.delete(deps.flows.readCookie(req));
    deps.flows.setCookie(res, started.flow);
    res.redirect(303, place.code);
  };
}
