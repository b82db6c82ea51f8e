import { ProfilePage, type ProfilePageProps } from '../../views/sign-up/profile-page.tsx';
import { stepTitle } from '../../views/sign-up/sign-up-steps.tsx';
import { noticeText, takeSignInNotice, toProviderButtons } from '../federation/index.ts';
import {
  HttpError,
  listOpenNames,
  type RequestContext,
  refusalView,
  type T,
  toControls,
  toRetrySeconds,
  toTyped,
  unavailableRetrySeconds,
  type WithKeptInput,
} from '../http/index.ts';
import { type Busy, hashForPage } from '../password/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import { hasPartnerDeal } from '../users/index.ts';
import type { SignUpDeps } from './deps.ts';
import { consumePartnerCheck } from './limits.ts';
import { profileForm } from './profile-input.ts';
import {
  type Prefill,
  prefillFromForm,
  prefillFromQuery,
  profilePageUrl,
  restartSignUp,
  type SignUpContext,
  type SignUpRequest,
  withSignUpContext,
} from './sign-up-context.ts';
import { findPendingVerification, setSignUpRecord } from './sign-up-records.ts';
import { startSignUpRefusals } from './sign-up-texts.ts';
import {
  type StartSignUpInput,
  type StartSignUpRefusal,
  type StartSignUpResult,
  startSignUp,
} from './start-sign-up.ts';
import { planLinkUrl, returnUrl } from './verified-handlers.ts';

type ProfilePageState = Partial<
  Pick<ProfilePageProps, 'values' | 'errors' | 'problem' | 'providerNotice'> & { isTaken: boolean }
> & {
  status?: number;
};

/** A visitor from the partner, for whose address the partner has named no deal. */
const noDealNotice = 'no-deal';

/** The address of the plan is passed on: the step PLAN follows the provider. */
function providerButtonsForSignUp(
  r: RequestContext,
  deps: SignUpDeps,
  { continuation, pendingAuthorization, planKey }: SignUpContext,
) {
  const parameters = new URLSearchParams(continuation.search);
  if (planKey !== null) parameters.set('planHash', planKey);
  return toProviderButtons(
    deps.providers,
    { lang: r.lang, t: r.t, userAgent: r.req.get('user-agent') },
    {
      search: parameters.size > 0 ? `?${parameters}` : '',
      clientLabel: pendingAuthorization?.clientName ?? new URL(deps.publicUrl).host,
      signUp: true,
    },
  );
}

/** The sign-in page, with the address that is known. */
function signInHref({ continuation: { search }, signIn }: SignUpContext, email: string): string {
  if (email === '') return signIn;
  const query = new URLSearchParams(search);
  query.set('email', email);
  return `/?${query}`;
}

/** The pages for the owner of an address, with the address. */
function takenLinks(place: SignUpContext, { isTaken, values }: ProfilePageState) {
  if (!isTaken) return undefined;
  const email = values?.email ?? '';
  const query = new URLSearchParams(place.continuation.search);
  query.set('email', email);
  return { signInHref: signInHref(place, email), resetHref: `/forgot-password?${query}` };
}

/** The view of the page, with the input from before another language was chosen. */
function toProfileView(r: RequestContext, address: string, view: ProfilePageState): ProfilePageState | undefined {
  const state = r.viewAt<ProfilePageState & WithKeptInput>(address, view);
  return state?.keptInput ? { ...state, values: toTyped(profileForm, state.keptInput) } : state;
}

/** Step PROFILE for a visitor at `place`, with the fields that it fills in; it links to an account that waits. */
export async function renderProfilePage(
  r: RequestContext,
  deps: SignUpDeps,
  { place, prefill, ...view }: ProfilePageState & { place: SignUpContext; prefill: Prefill },
): Promise<void> {
  const address = profilePageUrl(place, prefill);
  const state = toProfileView(r, address, view);
  if (!state) return;
  const { values, errors = {}, problem, providerNotice, status } = state;
  const account = (await findPendingVerification(r.req, deps))?.account;
  const started = account && 'signUp' in account ? account.signUp : undefined;
  const stored = {
    givenName: started?.givenName ?? '',
    familyName: started?.familyName ?? '',
    email: prefill.email ?? started?.email ?? '',
  };
  r.render(
    ProfilePage,
    {
      action: place.profile,
      controls: toControls(profileForm),
      signInHref: signInHref(place, (values ?? stored).email),
      values: values ?? stored,
      lockedEmail: prefill.source === 'appsumo',
      hidden: {
        terms: String(deps.legal.version.number),
        // The script of the new password fills it in.
        zoneinfo: '',
        ...(prefill.source !== 'general' && { from: prefill.source }),
      },
      errors,
      taken: takenLinks(place, state),
      ...(problem && { problem }),
      providerNotice,
      ...(started && { resumableSignUp: { email: started.email, href: place.code } }),
      ...(place.pendingAuthorization && { clientName: place.pendingAuthorization.clientName }),
      // A partner's deal belongs to the address that the partner named.
      providerButtons: prefill.source === 'appsumo' ? undefined : providerButtonsForSignUp(r, deps, place),
    },
    {
      title: ({ t }) => stepTitle(t, t('signUp.title'), { current: 0, postSignUp: false }),
      address,
      status,
      search: place.continuation.search,
      keeps: { form: 'sign-up', names: listOpenNames(profileForm) },
    },
  );
}

/** Tests whether a visitor from the partner has a deal; limited by network. */
async function hasPartnerDealAhead(r: RequestContext, { database, kv }: SignUpDeps, email: string): Promise<boolean> {
  const decision = await consumePartnerCheck(kv, r.ip);
  if (!decision.allowed) {
    throw new HttpError('tooMany', { retryAfterSeconds: toRetrySeconds(decision.retryAfterMs) });
  }
  return hasPartnerDeal(database, email);
}

/** Tests whether the pending request is over and cannot start again: otherwise it starts after the sign-up. */
async function isLost({ req, place }: SignUpRequest, deps: SignUpDeps): Promise<boolean> {
  const { continuation, pendingAuthorization } = place;
  if (continuation.authorization === undefined || pendingAuthorization) return false;
  return (await deps.toExpiredError(req, continuation)).options.redirectTo === undefined;
}

/** GET /signup: a signed-in user continues, everyone else sees the form, with their earlier input. */
export const showProfile = withSignUpContext(async (r, deps) => {
  const { place } = r;
  const found = await deps.sessions.getCurrentUser(r.req);
  const prefill = prefillFromQuery(r);
  // A user who is already signed in, perhaps in another tab, still reads why the form was refused.
  if (found && !r.followsRefusal(profilePageUrl(place, prefill))) {
    const { user } = found;
    return r.redirect(planLinkUrl(r, deps, user) ?? (await returnUrl(r, deps, { user, way: 'sign-up' })));
  }
  if (prefill.source === 'appsumo' && !(await hasPartnerDealAhead(r, deps, prefill.email ?? ''))) {
    r.announce(noDealNotice);
    return r.redirect(place.profile);
  }
  if (await isLost(r, deps)) {
    const text = r.t('signIn.errors.requestExpired');
    const none: SignUpContext = {
      ...place,
      continuation: { search: '' },
      profile: place.base,
      signIn: '/',
      code: `${place.base}/emailCaptured`,
    };
    return renderProfilePage(r, deps, { place: none, prefill, problem: { text }, status: 400 });
  }
  const notice = takeSignInNotice(r, deps.providers);
  const isWithoutDeal = r.takesNotice(noDealNotice);
  await renderProfilePage(r, deps, {
    place,
    prefill,
    providerNotice: notice && noticeText(r.t, notice),
    ...(isWithoutDeal && { problem: { text: r.t('signUp.noDeal'), support: true } }),
  });
});

const toProblem = (t: T, text: string) => ({ problem: { title: t('signUp.errors.failed'), text } });

/** The text for a refusal, and its place. */
function toRefusedState(r: RequestContext, refusal: StartSignUpRefusal): ProfilePageState {
  const { status, text, field } = refusalView(r, startSignUpRefusals, refusal);
  if (refusal.kind === 'invalid') {
    return { status, errors: refusal.errors, ...(refusal.text && { problem: { text: refusal.text } }) };
  }
  const isTaken = refusal.kind === 'already-in-use';
  return { status, isTaken, ...(field ? { errors: { [field]: text } } : toProblem(r.t, text)) };
}

function toUnavailableState(r: RequestContext, error: unknown): ProfilePageState {
  if (!(error instanceof StoreUnavailable)) throw error;
  r.log.warn({ err: error }, 'sign-up failed: store unavailable');
  r.setRetryAfter(unavailableRetrySeconds * 1000);
  return { status: 503, ...toProblem(r.t, r.t('signUp.errors.unavailable')) };
}

function readProfileForm(r: SignUpRequest, source: Prefill['source']): StartSignUpInput {
  const { place } = r;
  const terms = r.field('terms');
  return {
    ...r.form(profileForm).typed,
    password: r.field('password'),
    t: r.t,
    lang: r.lang,
    source,
    planKey: place.planKey,
    termsVersion: /^\d{1,9}$/.test(terms) ? Number(terms) : undefined,
    continuation: place.continuation.search,
    zoneinfo: r.field('zoneinfo'),
    from: {
      ip: r.ip,
      userAgent: r.req.get('user-agent') ?? null,
      clientId: place.pendingAuthorization?.clientId ?? null,
    },
  };
}

/** POST /signup: starts a sign-up and mails its code, or starts over. */
export const submitProfile = withSignUpContext(async (r, deps) => {
  const { place } = r;
  const action = r.field('act');
  if (action === 'start-over') return restartSignUp(r, deps, place.profile);
  if (action !== '') throw new HttpError('badRequest', { detail: 'unknown form action' });
  const prefill = prefillFromForm(r);
  const input = readProfileForm(r, prefill.source);
  const { givenName, familyName, email } = input;
  const values = { givenName, familyName, email };
  const rerender = (state: ProfilePageState) => renderProfilePage(r, deps, { place, prefill, values, ...state });

  let started: StartSignUpResult | Busy;
  try {
    started = await hashForPage(r, deps, () => startSignUp(deps, input));
  } catch (error) {
    return rerender(toUnavailableState(r, error));
  }
  switch (started.kind) {
    case 'busy':
      return rerender({ status: started.status, ...toProblem(r.t, r.t('signUp.errors.busy')) });
    case 'begun':
      await setSignUpRecord(r, deps, started.flow);
      return r.redirect(place.code);
    case 'no-deal':
      // As specified: the page is loaded again, as for everyone else.
      r.announce(noDealNotice);
      return r.redirect(place.profile);
    default:
      return rerender(toRefusedState(r, started));
  }
});
