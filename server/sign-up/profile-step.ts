import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import type { PageContext } from '../../views/page-context.ts';
import { passwordStrength } from '../../views/parts/password-strength.ts';
import { ProfilePage, type ProfilePageProps } from '../../views/sign-up/profile-page.tsx';
import { hasPartnerDeal } from '../account/index.ts';
import { doorsOf, noticeOf, noticeText } from '../federation/index.ts';
import { field, HttpError, retrySeconds, setRetryAfter, storeAwaySeconds, withErrand } from '../http/index.ts';
import { type Busy, unlessBusy } from '../password/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import { type BeginInput, type BeginRefusal, type Begun, beginSignUp } from './begin.ts';
import type { SignUpDeps } from './deps.ts';
import { flowOf } from './flows.ts';
import { admitPartnerCheck } from './limits.ts';
import { type Place, type Prefill, placeOf, prefillOfForm, prefillOfQuery, profileAddress } from './place.ts';
import { startOver } from './start-over.ts';
import { faultTexts, tooManyText } from './texts.ts';
import { type Unconfirmed, unconfirmedOf } from './unconfirmed.ts';
import { wayOnFrom } from './verified-step.ts';

type Shown = Partial<Pick<ProfilePageProps, 'values' | 'errors' | 'problem' | 'met' | 'said'>> & { status?: number };

/** The account that was begun in this browser, if its address can still be confirmed. */
async function begunHere(deps: SignUpDeps, req: Request): Promise<(Unconfirmed & { kind: 'sign-up' }) | undefined> {
  const own = await flowOf(deps.flows, req);
  const whom = own && (await unconfirmedOf(deps, own.flow));
  return whom?.kind === 'sign-up' ? whom : undefined;
}

/** The plan of this address goes along: the step PLAN comes after the provider. */
function doorsHere(deps: SignUpDeps, req: Request, { errand, waiting, planKey }: Place, { lang, t }: PageContext) {
  const parameters = new URLSearchParams(errand.search);
  if (planKey !== null) parameters.set('planHash', planKey);
  return doorsOf(
    deps.providers(),
    { lang, t, userAgent: req.get('user-agent') },
    {
      search: parameters.size > 0 ? `?${parameters}` : '',
      place: waiting?.clientName ?? new URL(deps.publicUrl).host,
      signUp: true,
    },
  );
}

export async function sendProfilePage(
  deps: SignUpDeps,
  req: Request,
  res: Response,
  { place, prefill }: { place: Place; prefill: Prefill },
  given: Shown,
): Promise<void> {
  const address = profileAddress(place, prefill);
  const shown = deps.pages.shownAt(req, res, address, given);
  if (!shown) return;
  const { values, errors = {}, problem, met, said, status = 200 } = shown;
  const begun = await begunHere(deps, req);
  const kept = {
    given_name: begun?.signUp.givenName ?? '',
    family_name: begun?.signUp.familyName ?? '',
    email: prefill.email ?? begun?.email ?? '',
  };
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(ProfilePage, {
        ctx: withErrand(ctx, place.errand.search),
        action: place.profile,
        signInHref: place.signIn,
        values: values ?? kept,
        lockedEmail: prefill.source === 'appsumo',
        hidden: {
          terms: String(deps.legal.version.number),
          ...(prefill.source !== 'general' && { from: prefill.source }),
        },
        errors,
        ...(problem && { problem }),
        ...(met && { met }),
        said,
        ...(begun && { begun: { email: begun.email, href: place.code } }),
        ...(place.waiting && { clientName: place.waiting.clientName }),
        // A partner's deal hangs on the address that the partner named.
        doors: prefill.source === 'appsumo' ? undefined : doorsHere(deps, req, place, ctx),
      }),
    { title: (ctx) => ctx.t('signUp.title'), address },
  );
}

/** Whether somebody who comes from the partner has a deal there; how often one may ask is limited. */
async function hasDeal({ database, kv }: SignUpDeps, req: Request, email: string): Promise<boolean> {
  const decision = await admitPartnerCheck(kv, req.ip ?? '');
  if (!decision.allowed) {
    throw new HttpError('tooMany', { retryAfterSeconds: retrySeconds(decision.retryAfterMs) });
  }
  return hasPartnerDeal(database, email);
}

/** Whether the request of the address is over and cannot begin again: one that can does so when the sign-up is done. */
async function isLost(deps: SignUpDeps, req: Request, { errand, waiting }: Place): Promise<boolean> {
  if (errand.authorization === undefined || waiting) return false;
  return (await deps.requestOver(req, errand)).options.instead === undefined;
}

/** GET /signup: who is signed in goes on, everybody else sees the form, with what they typed when they come back to it. */
export function showProfile(deps: SignUpDeps): RequestHandler {
  return async (req, res) => {
    const place = await placeOf(deps, req);
    const member = await deps.sessions.member(req);
    const prefill = prefillOfQuery(req);
    // A member who is signed in already, in another tab perhaps, still reads why the form was refused.
    if (member && !deps.pages.isRefused(req, profileAddress(place, prefill)))
      return res.redirect(303, await wayOnFrom(deps, req, place, member.user));
    if (prefill.source === 'appsumo' && !(await hasDeal(deps, req, prefill.email ?? ''))) {
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
      return sendProfilePage(deps, req, res, { place: none, prefill }, { problem: { text }, status: 400 });
    }
    const ended = noticeOf(req, deps.providers());
    const said = ended && noticeText(req.t, ended);
    await sendProfilePage(deps, req, res, { place, prefill }, { said });
  };
}

/** Which text and status stand for each refusal (the specification's sections 5 and 8). */
function refused(req: Request, res: Response, refusal: BeginRefusal): Shown {
  const { t } = req;
  const title = t('signUp.errors.failed');
  switch (refusal.kind) {
    case 'invalid':
      return { status: 400, ...faultTexts(t, refusal.faults) };
    case 'taken':
      return { status: 409, errors: { email: t('signUp.errors.taken') } };
    case 'no-deal':
      return { status: 400, problem: { title, text: t('signUp.errors.validation') } };
    case 'too-many':
      setRetryAfter(res, refusal.retryAfterMs);
      return { status: 429, problem: { title, text: tooManyText(t, refusal.retryAfterMs) } };
  }
}

/** What is answered while this server cannot: the form with everything but the password. */
function busy(req: Request, status: number): Shown {
  const { t } = req;
  return { status, problem: { title: t('signUp.errors.failed'), text: t('signUp.errors.busy') } };
}

function storeAway(deps: SignUpDeps, req: Request, res: Response, error: unknown): Shown {
  if (!(error instanceof StoreUnavailable)) throw error;
  const { t } = req;
  const title = t('signUp.errors.failed');
  deps.log.warn({ err: error }, 'a sign-up found a store away');
  setRetryAfter(res, storeAwaySeconds * 1000);
  return { status: 503, problem: { title, text: t('signUp.errors.away') } };
}

/** POST /signup: begins an account and mails its code, or starts over. */
export function submitProfile(deps: SignUpDeps): RequestHandler {
  return async (req, res) => {
    const place = await placeOf(deps, req);
    const act = field(req, 'act');
    if (act === 'start-over') return startOver(deps, req, res, place.profile);
    if (act !== '') throw new HttpError('badRequest', { detail: 'act is neither begin nor start-over' });
    const { language: lang } = req;
    const prefill = prefillOfForm(req);
    const values = {
      given_name: field(req, 'given_name'),
      family_name: field(req, 'family_name'),
      email: field(req, 'email'),
    };
    const typed = {
      givenName: values.given_name,
      familyName: values.family_name,
      email: values.email,
      password: field(req, 'password'),
    };
    const terms = field(req, 'terms');

    const sendAgain = (shown: Shown) => sendProfilePage(deps, req, res, { place, prefill }, { values, ...shown });
    let begun: Begun | Busy;
    try {
      const input: BeginInput = {
        ...typed,
        lang,
        source: prefill.source,
        planKey: place.planKey,
        termsVersion: /^\d{1,9}$/.test(terms) ? Number(terms) : undefined,
        errand: place.errand.search,
        from: {
          ip: req.ip ?? '',
          userAgent: req.get('user-agent') ?? null,
          clientId: place.waiting?.clientId ?? null,
        },
      };
      begun = await unlessBusy(res, deps, () => beginSignUp(deps, input));
    } catch (error) {
      return sendAgain(storeAway(deps, req, res, error));
    }
    if (begun.kind === 'busy') return sendAgain(busy(req, begun.status));
    if (begun.kind === 'refused') {
      const { refusal } = begun;
      // As the specification has it: the page is loaded anew, as for everybody else.
      if (refusal.kind === 'no-deal') return res.redirect(303, place.profile);
      const met = typed.password === '' ? {} : { met: passwordStrength(typed.password, typed) };
      return sendAgain({ ...met, ...refused(req, res, refusal) });
    }
    await deps.flows.delete(deps.flows.readCookie(req));
    deps.flows.setCookie(res, begun.flow);
    res.redirect(303, place.code);
  };
}
