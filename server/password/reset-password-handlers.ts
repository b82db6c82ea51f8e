import { passwordStrength, type Strength } from '../../views/parts/password-strength.ts';
import { ResetStartPage } from '../../views/password/reset-entry-page.tsx';
import {
  type ResetNews,
  ResetPasswordPage,
  type ResetPasswordPageProps,
} from '../../views/password/reset-password-page.tsx';
import type { RequestContext, T } from '../http/index.ts';
import { codeMinutes, normaliseCode, resendWaitMs } from '../messages/index.ts';
import { type FlowId, toPublicOutcome } from '../shared/index.ts';
import { maxIdentifierLength, normaliseEmail, toAccountKey, type User } from '../users/index.ts';
import type { PasswordDeps } from './deps.ts';
import { passwordErrorText, retryAfterText, withParams } from './password-texts.ts';
import { hashForPage } from './queue-full.ts';
import { afterResetUrl } from './recent-factors-handlers.ts';
import { resendCode } from './request-reset.ts';
import { isCodeVerified, type ResetRefusal, resetPassword } from './reset-password.ts';
import { accountDigest, type ResetRecord } from './reset-records.ts';

/** The name in the address of a reset page, and this browser's flow if it belongs to that name. */
interface BrowserReset {
  readonly username: string;
  readonly id: FlowId;
  readonly flow: ResetRecord | undefined;
}

type ResetRequest = RequestContext & BrowserReset;
type FlowRequest = ResetRequest & { readonly flow: ResetRecord };

const hasFlow = (r: ResetRequest): r is FlowRequest => r.flow !== undefined;

const path = '/reset-password';

async function findReset(r: RequestContext, { codes, flows }: PasswordDeps): Promise<BrowserReset> {
  const username = (r.query('username') ?? '').trim().slice(0, maxIdentifierLength);
  const id = flows.readCookie(r.req);
  const flow = await flows.find(id);
  // The address names another account: a user who follows such a link must not be asked for one account's code under
  // another's name.
  const isTheirs = flow?.account === accountDigest(codes, toAccountKey(username));
  return { username, id, flow: isTheirs ? flow : undefined };
}

type ResetPasswordPageState = Partial<
  Pick<ResetPasswordPageProps, 'code' | 'errors' | 'problem' | 'notice' | 'moved' | 'strength' | 'proven'>
> & {
  status?: number;
};

function sentText(t: T, username: string, uniformAnswers: boolean): string {
  const minutes = codeMinutes;
  if (uniformAnswers) return t('password.reset.sentPerhaps', { username, minutes });
  const email = normaliseEmail(username);
  if (email === undefined) return t('password.reset.sentToAccount', { minutes });
  return t('password.reset.sentTo', { email, minutes });
}

function renderResetPage(
  r: FlowRequest,
  { uniformAnswers, now }: PasswordDeps,
  view: ResetPasswordPageState = {},
): void {
  const { continuation, username, flow } = r;
  const address = withParams(path, continuation, { username });
  const state = r.viewAt(address, view);
  if (!state) return;
  const { status, errors = {}, proven = isCodeVerified(flow, now()), ...props } = state;
  const waitMs = flow.sentAtMs + resendWaitMs - now();
  r.render(
    ResetPasswordPage,
    {
      action: address,
      otherHref: withParams('/forgot-password', continuation),
      username,
      sent: sentText(r.t, username, uniformAnswers),
      waitSeconds: Math.max(0, Math.ceil(waitMs / 1000)),
      errors,
      proven,
      ...props,
    },
    { title: 'password.reset.title', address, status },
  );
}

/** No code has been requested in this browser, or the flow is over: it starts here. */
function renderStartPage(r: ResetRequest, view: ResetPasswordPageState & { isOver: boolean }): void {
  const { t, continuation, username } = r;
  const address = withParams(path, continuation, { username });
  const state = r.viewAt(address, view);
  if (!state) return;
  const over = { title: t('password.reset.failed'), text: t('password.reset.codeExpired') };
  // A refusal may have ended the flow: then this page is its page.
  const problem = state.problem ?? (state.isOver ? over : undefined);
  r.render(
    ResetStartPage,
    {
      action: withParams('/forgot-password', continuation),
      signInHref: withParams('/', continuation),
      username,
      problem,
    },
    { title: 'password.reset.title', address, status: state.status ?? (problem ? 400 : 200) },
  );
}

/** The notice in the address: one of a fixed list, no other text. */
function noticeText(t: T, notice: string | undefined): ResetNews | undefined {
  if (notice === 'confirmed') {
    const [title, text] = [t('password.request.confirmedTitle'), t('password.request.confirmed')];
    return { title, text, duration: 'redirecting' };
  }
  if (notice === 'resent') {
    return { title: t('password.reset.resentTitle'), text: t('password.reset.resent'), duration: 'short' };
  }
  return undefined;
}

/** GET /reset-password. */
export async function showReset(visit: RequestContext, deps: PasswordDeps) {
  const r: ResetRequest = Object.assign(visit, await findReset(visit, deps));
  if (!hasFlow(r)) return renderStartPage(r, { isOver: false });
  const notice = r.query('notice');
  renderResetPage(r, deps, { notice: noticeText(r.t, notice), moved: notice === 'moved' });
}

/** Empty or invalid fields, before anything is checked (the specification's section 5). */
function formFaults(
  { t }: RequestContext,
  typed: { code: string; password: string; confirm: string },
  proven: boolean,
): ResetPasswordPageState | undefined {
  const { code, password, confirm } = typed;
  const errors = {
    ...(!proven &&
      normaliseCode(code) === undefined && {
        code: t(code === '' ? 'password.reset.codeEmpty' : 'password.reset.codeIncomplete'),
      }),
    ...(password === '' && { password: t('password.reset.passwordEmpty') }),
    ...(confirm === '' && { confirm: t('password.reset.confirmEmpty') }),
  };
  if (Object.keys(errors).length > 0) return { errors };
  if (password === confirm) return undefined;
  return {
    errors: { confirm: t('password.reset.inconsistent') },
    problem: { title: t('password.reset.failed'), text: t('password.reset.mismatch') },
  };
}

async function resend(r: FlowRequest, deps: PasswordDeps) {
  const { t, continuation, username } = r;
  const resent = await resendCode(deps, r.id, { lang: r.lang, ip: r.ip });
  if (resent.kind === 'not-found') return renderStartPage(r, { isOver: true });
  if (resent.kind === 'sent') return r.redirect(withParams(path, continuation, { username, notice: 'resent' }));
  r.setRetryAfter(resent.retryAfterMs);
  const text = retryAfterText(t, resent.why, resent.retryAfterMs);
  renderResetPage(r, deps, { status: 429, problem: { title: t('password.reset.resendFailed'), text } });
}

/** The checklist for the sent password, without the user's names: the reader is not authenticated. */
function readStrength(r: ResetRequest): Strength | undefined {
  const password = r.field('password');
  return password === '' ? undefined : passwordStrength(password, { email: r.username });
}

/** The page of a refused form: a complete code stays in its field. */
function rerender(r: FlowRequest, deps: PasswordDeps, view: ResetPasswordPageState): void {
  const code = normaliseCode(r.field('code').trim());
  const strength = readStrength(r);
  renderResetPage(r, deps, {
    status: 400,
    ...(code !== undefined && { code }),
    ...(strength && { strength }),
    ...view,
  });
}

const toProblem = ({ t }: RequestContext, text: string) => ({ title: t('password.reset.failed'), text });

/** The text for each refusal, and its place. */
function refusalView(r: ResetRequest, refusal: Exclude<ResetRefusal, { kind: 'no-flow' }>): ResetPasswordPageState {
  const { t } = r;
  // A useless code is removed from its field.
  const refuseCode = (text: string) => ({ code: '', errors: { code: text }, problem: toProblem(r, text) });
  switch (refusal.kind) {
    case 'too-many':
      r.setRetryAfter(refusal.retryAfterMs);
      return { status: 429, problem: toProblem(r, retryAfterText(t, 'too-many', refusal.retryAfterMs)) };
    case 'incomplete':
      return { errors: { code: t('password.reset.codeIncomplete') } };
    case 'incorrect':
      return refuseCode(t('password.reset.codeWrong'));
    case 'invalidated':
      return refuseCode(t('password.reset.codeExpired'));
    case 'faults': {
      const text = passwordErrorText(t, refusal.faults);
      const strength = refusal.faults.includes('contains-personal-data') ? readStrength(r) : undefined;
      return {
        errors: { password: text },
        problem: toProblem(r, text),
        proven: refusal.proven,
        ...(strength && { strength: { ...strength, notPersonal: false } }),
      };
    }
  }
}

/** Too many passwords wait to be hashed; the code may be proven by now. */
async function rerenderBusy(r: FlowRequest, deps: PasswordDeps, status: number) {
  const flow = await deps.flows.find(r.id);
  const proven = flow && { proven: isCodeVerified(flow, deps.now()) };
  rerender(r, deps, { status, problem: toProblem(r, r.t('signIn.errors.busy')), ...proven });
}

async function complete(r: FlowRequest, deps: PasswordDeps, user: User) {
  deps.flows.clearCookie(r.res);
  await deps.devices.trust(r.req, r.res, user);
  r.redirect(await afterResetUrl(r, deps, user.id));
}

/** POST /reset-password: sets the password, or sends another code; a new password leads to the sign-in. */
export async function submitReset(visit: RequestContext, deps: PasswordDeps) {
  const r: ResetRequest = Object.assign(visit, await findReset(visit, deps));
  const act = r.field('act');
  // Passwords are used unchanged; a code has no spaces at its ends.
  const [code, password, confirm] = [r.field('code').trim(), r.field('password'), r.field('confirm')];
  if (!hasFlow(r)) return renderStartPage(r, { isOver: true });
  if (act === 'resend') return resend(r, deps);
  const faults = formFaults(r, { code, password, confirm }, isCodeVerified(r.flow, deps.now()));
  if (faults) return rerender(r, deps, faults);
  const from = { ip: r.ip, lang: r.lang };
  const reset = await hashForPage(r, deps, () => resetPassword(deps, r.id, { code, password, from }));
  if (reset.kind === 'busy') return rerenderBusy(r, deps, reset.status);
  const outcome = toPublicOutcome(reset.kind === 'reset' ? reset.kind : reset.refusal.kind);
  r.log.info({ act: 'reset-password', outcome }, 'reset');
  if (reset.kind === 'reset') return complete(r, deps, reset.user);
  if (reset.refusal.kind !== 'no-flow') return rerender(r, deps, refusalView(r, reset.refusal));
  // Its page would ask for a code that is no longer valid.
  await deps.flows.delete(r.id);
  renderStartPage(r, { isOver: true });
}
