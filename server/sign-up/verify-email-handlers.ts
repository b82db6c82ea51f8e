import { CodePage, type CodePageProps } from '../../views/sign-up/code-page.tsx';
import { stepTitle } from '../../views/sign-up/sign-up-steps.tsx';
import {
  type Continuation,
  continuationFromQuery,
  HttpError,
  type PageHandler,
  type RefusedForm,
  type RequestContext,
  submitAction,
  toRetrySeconds,
} from '../http/index.ts';
import { normaliseCode, secondsUntilResend } from '../messages/index.ts';
import type { SignUpDeps } from './deps.ts';
import { startEmailVerification } from './email-verification.ts';
import { renderProfilePage } from './profile-handlers.ts';
import { resendCode, type SendCodeResult } from './send-code.ts';
import { restartSignUp, type SignUpRequest, withSignUpContext } from './sign-up-context.ts';
import { findPendingVerification, type PendingVerification, type SignUpRecord } from './sign-up-records.ts';
import type { SignUpPlace, UnverifiedState } from './sign-up-state.ts';
import type { SignUp } from './sign-up-store.ts';
import { tooManyText, verifyEmailAction } from './sign-up-texts.ts';
import { nextUrl, returnUrl } from './verified-handlers.ts';
import type { VerifyEmailResult } from './verify-email.ts';

/** The same page is used in the sign-up, in the post-signup flow and, after a sign-in, at an address of its own. */
type VerifyEmailEntry = SignUpPlace['way'];

/** A request of the page for the code. */
interface VerifyEmailRequest extends SignUpRequest {
  readonly entry: VerifyEmailEntry;
  /** Address of this page. */
  readonly address: string;
  /** The flow of this browser, if there is something to confirm. */
  readonly pending: PendingVerification | undefined;
}

type VerifyEmailPageState = Partial<Pick<CodePageProps, 'code' | 'error' | 'notice' | 'waitSeconds'>> & {
  status?: number;
};

/** The step PLAN says that the code was right. */
const confirmedNotice = 'email-confirmed';

/** How long a notice says that a code was sent again. */
const resendNoticeMs = 10_000;

function withVerifyEmailContext(
  entry: VerifyEmailEntry,
  handler: PageHandler<SignUpDeps, VerifyEmailRequest>,
): PageHandler<SignUpDeps> {
  return withSignUpContext(async (r, deps) => {
    const { search } = r.place.continuation;
    const addresses = {
      'sign-up': r.place.code,
      'verify-code': `/verify-code${search}`,
      'post-signup': `/post-signup/security${search}`,
    };
    const pending = await findPendingVerification(r.req, deps);
    return handler(Object.assign(r, { entry, address: addresses[entry], pending }), deps);
  });
}

/** The page of an account that waits for its code. */
function renderVerifyEmailPage(
  r: VerifyEmailRequest,
  deps: SignUpDeps,
  {
    account,
    flow,
    view = {},
  }: {
    account: UnverifiedState & { signUp?: SignUp };
    flow: SignUpRecord | undefined;
    view?: VerifyEmailPageState;
  },
): void {
  const { entry, place, address } = r;
  r.renderForm(
    CodePage,
    {
      action: address,
      signInHref: place.signIn,
      email: account.email,
      backHref: account.signUp?.identity === null ? place.profile : undefined,
      steps: entry === 'post-signup' ? entry : entry === 'sign-up',
      unsent: flow?.sentAtMs === undefined,
      waitSeconds: secondsUntilResend(flow?.sentAtMs, deps.now()),
      ...(flow?.sentAtMs !== undefined && { newest: { by: 'email', atMs: flow.sentAtMs } }),
    },
    {
      title: ({ t }) =>
        entry === 'sign-up' || entry === 'post-signup'
          ? stepTitle(t, t('signUp.code.title'), { current: 1, postSignUp: entry === 'post-signup' })
          : t('signUp.code.title'),
      address,
      view,
      search: place.continuation.search,
    },
  );
}

/** GET: the page if there is something to confirm; every other visitor is redirected. */
export const showVerifyEmail = (entry: VerifyEmailEntry) =>
  withVerifyEmailContext(entry, async (r, deps) => {
    const { place, pending } = r;
    const found = await deps.sessions.getCurrentUser(r.req);
    if (pending) {
      const { account, flow } = pending;
      const isResent = flow.resent && flow.sentAtMs !== undefined && deps.now() - flow.sentAtMs < resendNoticeMs;
      const notice = {
        kind: 'success',
        text: `${r.t('signUp.code.resent')} ${r.t('codes.replaced')}`,
        duration: 'short',
      } as const;
      return renderVerifyEmailPage(r, deps, { account, flow, view: isResent ? { notice } : {} });
    }
    if (!found) return r.redirect(entry === 'sign-up' ? place.profile : place.signIn);
    const { user } = found;
    if (user.emailVerified) return r.redirect(await returnUrl(r, deps, { user, way: entry }));
    renderVerifyEmailPage(r, deps, { account: { kind: 'unverified-user', email: user.email }, flow: undefined });
  });

/**
 * The continuation of the address, else that of the start of the sign-up, if its request is pending in this browser or
 * can start again there.
 */
async function storedContinuation(
  { req, place: { continuation } }: SignUpRequest,
  deps: SignUpDeps,
  stored: string,
): Promise<Continuation> {
  if (continuation.authorization !== undefined || continuation.returnTo !== undefined) return continuation;
  const current = continuationFromQuery(stored, deps.publicUrl);
  if (current.authorization === undefined || (await deps.findPendingAuthorization(req, current.authorization)))
    return current;
  return (await deps.toExpiredError(req, current)).options.redirectTo === undefined ? continuation : current;
}

/** The text for a wrong code, and its place. */
function toPageState({
  status,
  errors,
  text,
  refusal,
}: RefusedForm<typeof verifyEmailAction.form>): VerifyEmailPageState {
  // The code is the reason: it is said at the field.
  if (text === undefined || refusal === 'invalidated') return { status, error: errors.code ?? text };
  return { status, notice: { kind: 'error', text, duration: 'never' } };
}

function toResendState(r: RequestContext, refused: SendCodeResult & { kind: 'refused' }): VerifyEmailPageState {
  const { t } = r;
  const seconds = toRetrySeconds(refused.retryAfterMs);
  r.setRetryAfter(refused.retryAfterMs);
  const tooSoon = refused.why === 'too-soon';
  const text = tooSoon ? t('signUp.code.tooSoon', { seconds }) : tooManyText(t, refused.retryAfterMs);
  return {
    status: 429,
    notice: { kind: 'error', title: t('signUp.code.failed'), text, duration: 'never' },
    ...(tooSoon && { waitSeconds: seconds }),
  };
}

/** The flow of a submitted form has expired or is unknown: the page of step 0 offers the next actions. */
function renderExpired(r: SignUpRequest, deps: SignUpDeps): Promise<void> {
  const problem = { text: r.t('signUp.errors.expired') };
  return renderProfilePage(r, deps, { place: r.place, prefill: { source: 'general' }, problem, status: 400 });
}

/** The address is confirmed: the user is signed in, and continues. */
async function completeVerification(
  r: VerifyEmailRequest,
  deps: SignUpDeps,
  confirmed: Extract<VerifyEmailResult, { kind: 'confirmed' }>,
) {
  const { user, remember, identity } = confirmed;
  const continuation = await storedContinuation(r, deps, confirmed.continuation);
  // A visitor from a provider continues in the same way, whichever page the code was typed on.
  const inSignUp = r.entry === 'sign-up' && !identity;
  const factor = identity ? { amr: ['fed'], upstream: identity.session } : { amr: ['pwd'] };
  const entered = await deps.signIn.completeSignIn(r, user, { ...factor, remember, continuation });
  if (entered.kind === 'second-factor-required') return r.redirect(entered.address);
  const way = inSignUp ? 'sign-up' : 'post-signup';
  // Without plans its own page says so.
  if (deps.plans.sold) r.announce(confirmedNotice);
  const { base } = r.place;
  r.redirect(nextUrl(deps, user, { base, continuation, way, justConfirmed: true, underWay: true }));
}

async function confirm(r: VerifyEmailRequest, deps: SignUpDeps, { id, flow: record, account }: PendingVerification) {
  const flow = r.entry === 'sign-up' ? 'sign-up' : 'post-sign-up';
  const caller = { flowId: id, ip: r.ip, lang: r.lang, flow } as const;
  const result = await submitAction(r, verifyEmailAction, { deps, caller });
  if (result.kind === 'confirmed') return completeVerification(r, deps, result);
  const { refusal } = result;
  if (refusal === 'not-found') return r.redirect(r.address);
  // A useless code is removed from its field.
  const isUseless = refusal === 'incorrect' || refusal === 'invalidated';
  const code = isUseless ? undefined : normaliseCode(r.field('code'));
  const view = { ...toPageState(result), ...(code !== undefined && { code }) };
  renderVerifyEmailPage(r, deps, { account, flow: record, view });
}

async function resend(r: VerifyEmailRequest, deps: SignUpDeps, { id, flow, account }: PendingVerification) {
  const sent = await resendCode(deps, id, {
    lang: r.lang,
    ip: r.ip,
    device: (to) => (to.kind === 'unverified-user' ? deps.devices.recognise(r.req, to.user) : undefined),
  });
  if (sent.kind !== 'refused') return r.redirect(r.address);
  renderVerifyEmailPage(r, deps, { account, flow, view: toResendState(r, sent) });
}

/** POST: a code, Resend, Start Over, Cancel. */
export const submitVerifyEmail = (entry: VerifyEmailEntry) =>
  withVerifyEmailContext(entry, async (r, deps) => {
    const { place, pending } = r;
    // Reads both fields first, so that a malformed form is always an error.
    const [action] = [r.field('act'), r.field('code')];
    if (action === 'start-over') return restartSignUp(r, deps, place.profile);
    if (action === 'cancel') return restartSignUp(r, deps, place.signIn);
    if (action !== '' && action !== 'resend') throw new HttpError('badRequest', { detail: 'unknown form action' });
    if (pending) return action === 'resend' ? resend(r, deps, pending) : confirm(r, deps, pending);
    const found = await deps.sessions.getCurrentUser(r.req);
    if (!found) return renderExpired(r, deps);
    const { user, session } = found;
    if (user.emailVerified) return r.redirect(await returnUrl(r, deps, { user, way: entry }));
    await startEmailVerification(r, deps, { kind: 'user', id: user.id, remember: session.remember });
    r.redirect(r.address);
  });
