import { z } from 'zod';
import type { TextKey } from '../../locales/index.ts';
import { ResetStartPage } from '../../views/password/code-request-page.tsx';
import { ResetPasswordPage, type ResetPasswordPageProps } from '../../views/password/reset-password-page.tsx';
import { AddressWithNotice, formField, type RequestContext, refusalView, type T, toControls } from '../http/index.ts';
import { codeMinutes, normaliseCode, secondsUntilResend } from '../messages/index.ts';
import { type FlowId, toPublicOutcome } from '../shared/index.ts';
import { maxIdentifierLength, normaliseEmail, toAccountKey, type User } from '../users/index.ts';
import type { PasswordDeps } from './deps.ts';
import {
  isOpen,
  type OpenReset,
  type PasswordResetState,
  type ResetRefusal,
  toResetState,
} from './password-reset-state.ts';
import { forgotPasswordAction, resetNotices, resetRefusals, strengthErrorText, withParams } from './password-texts.ts';
import { hashForPage } from './queue.ts';
import { afterResetUrl } from './recent-factors-handlers.ts';
import { resendCode } from './request-reset.ts';
import { resetPassword } from './reset-password.ts';
import { accountDigest } from './reset-records.ts';

/** The name in the address of a reset page, and the state of this browser's reset of that name. */
interface BrowserReset<State extends PasswordResetState = PasswordResetState> {
  readonly username: string;
  readonly id: FlowId;
  readonly state: State;
}

type ResetRequest = RequestContext & BrowserReset;
type OpenResetRequest = RequestContext & BrowserReset<OpenReset>;

const hasOpenReset = (r: ResetRequest): r is OpenResetRequest => isOpen(r.state);

const path = '/reset-password';

const codeSchema = z
  .string()
  .trim()
  .min(1, { error: 'password.reset.codeEmpty' satisfies TextKey })
  .refine((code) => normaliseCode(code) !== undefined, { error: 'codes.incomplete' satisfies TextKey });

/** Passwords are used unchanged. */
const newPasswordField = (name: string, empty: TextKey) =>
  formField(name, { schema: z.string().min(1, { error: empty }), isSecret: true, autoComplete: 'new-password' });

/** The form of the page. @param proven the code was already right */
export const resetForm = (proven: boolean) => ({
  code: formField('code', { schema: proven ? z.string() : codeSchema, isSecret: true }),
  password: newPasswordField('password', 'password.reset.passwordEmpty'),
  confirm: newPasswordField('confirm', 'password.reset.confirmEmpty'),
});

async function findReset(r: RequestContext, { codes, flows, now }: PasswordDeps): Promise<BrowserReset> {
  const username = (r.query('username') ?? '').trim().slice(0, maxIdentifierLength);
  const id = flows.readCookie(r.req);
  const flow = await flows.find(id);
  // The address names another account: a user who follows such a link must not be asked for one account's code under
  // another's name.
  const isTheirs = flow?.account === accountDigest(codes, toAccountKey(username));
  return { username, id, state: isTheirs ? toResetState(flow, now()) : { kind: 'none' } };
}

type ResetPasswordPageState = Partial<
  Pick<ResetPasswordPageProps, 'code' | 'errors' | 'problem' | 'notice' | 'moved' | 'proven'>
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

/** The page of an open reset. */
function renderResetPage(
  r: OpenResetRequest,
  { uniformAnswers, now }: PasswordDeps,
  view: ResetPasswordPageState = {},
): void {
  const { continuation, username, state: reset } = r;
  const address = withParams(path, continuation, { username });
  r.renderForm(
    ResetPasswordPage,
    {
      action: address,
      controls: toControls(resetForm(false)),
      otherHref: withParams('/forgot-password', continuation),
      username,
      sent: sentText(r.t, username, uniformAnswers),
      waitSeconds: secondsUntilResend(reset.flow.sentAtMs, now()),
      newest: { by: uniformAnswers ? 'perhaps-email' : 'email', atMs: reset.flow.sentAtMs },
      errors: {},
      proven: reset.kind === 'code-proven',
    },
    { title: 'password.reset.title', address, view },
  );
}

/** The page of the state `none`: a reset starts here. */
function renderStartPage(r: ResetRequest, view: ResetPasswordPageState & { isOver: boolean }): void {
  const { t, continuation, username } = r;
  const address = withParams(path, continuation, { username });
  const state = r.viewAt(address, view);
  if (!state) return;
  const over = { title: t('password.reset.failed'), text: t('codes.expired') };
  // A refusal may have ended the flow: then this page is its page.
  const problem = state.problem ?? (state.isOver ? over : undefined);
  r.render(
    ResetStartPage,
    {
      action: withParams('/forgot-password', continuation),
      controls: toControls(forgotPasswordAction.form),
      signInHref: withParams('/', continuation),
      username,
      problem,
    },
    { title: 'password.reset.title', address, status: state.status ?? (problem ? 400 : 200) },
  );
}

/** Without scripts no page before this one has shown that the code was sent. */
function toNews(t: T, notice: string): Pick<ResetPasswordPageProps, 'notice' | 'moved'> | undefined {
  if (notice === resetNotices.moved) return { moved: true };
  if (notice === resetNotices.sent) return { notice: { text: t('password.request.confirmed'), duration: 'short' } };
  if (notice === resetNotices.resent) {
    const text = `${t('password.reset.resent')} ${t('codes.replaced')}`;
    return { notice: { title: t('password.reset.resentTitle'), text, duration: 'short' } };
  }
  return undefined;
}

/** GET /reset-password. */
export async function showReset(visit: RequestContext, deps: PasswordDeps) {
  const r: ResetRequest = Object.assign(visit, await findReset(visit, deps));
  if (!hasOpenReset(r)) return renderStartPage(r, { isOver: false });
  renderResetPage(
    r,
    deps,
    r.takeNotice((name) => toNews(r.t, name)),
  );
}

async function resend(r: OpenResetRequest, deps: PasswordDeps) {
  const { t, continuation, username } = r;
  const resent = await resendCode(deps, r.id, { lang: r.lang, ip: r.ip });
  if (resent.kind === 'sent') {
    return r.redirect(new AddressWithNotice(withParams(path, continuation, { username }), resetNotices.resent));
  }
  const { refusal } = resent;
  if (!('retryAfterMs' in refusal)) return renderStartPage(r, { isOver: true });
  const { status, text } = refusalView(r, resetRefusals, refusal);
  renderResetPage(r, deps, { status, problem: { title: t('password.reset.resendFailed'), text } });
}

/** The fault of the sent password, without the user's names: the reader is not authenticated. */
const weakness = (r: ResetRequest) => strengthErrorText(r.t, r.field('password'), { email: r.username });

/** The page of a refused form: a complete code stays in its field; the passwords do not, and their fields say so. */
function rerender(r: OpenResetRequest, deps: PasswordDeps, view: ResetPasswordPageState): void {
  const code = normaliseCode(r.field('code').trim());
  const enterAgain = r.t('password.reset.again');
  renderResetPage(r, deps, {
    status: 400,
    ...(code !== undefined && { code }),
    ...view,
    errors: { password: weakness(r) ?? enterAgain, confirm: enterAgain, ...view.errors },
  });
}

const toProblem = ({ t }: RequestContext, text: string) => ({ title: t('password.reset.failed'), text });

/** The place of the text of each refusal. */
function toRefusedState(r: ResetRequest, refusal: ResetRefusal): ResetPasswordPageState {
  const { status, text } = refusalView(r, resetRefusals, refusal);
  // The field says the reason.
  const problem = { text: r.t('password.reset.failed') };
  switch (refusal.kind) {
    case 'incomplete':
      return { errors: { code: text } };
    case 'incorrect':
    case 'invalidated':
      // A useless code is removed from its field.
      return { code: '', errors: { code: text }, problem };
    case 'faults':
      return { errors: { password: text }, problem, proven: refusal.proven };
    default:
      return { status, problem: toProblem(r, text) };
  }
}

/** Too many passwords wait to be hashed; the code may be proven by now. */
async function rerenderBusy(r: OpenResetRequest, deps: PasswordDeps, status: number) {
  const flow = await deps.flows.find(r.id);
  const proven = flow && { proven: toResetState(flow, deps.now()).kind === 'code-proven' };
  rerender(r, deps, { status, problem: toProblem(r, r.t('signIn.errors.busy')), ...proven });
}

async function complete(r: OpenResetRequest, deps: PasswordDeps, user: User) {
  deps.flows.clearCookie(r.res);
  await deps.devices.trust(r.req, r.res, user);
  r.redirect(await afterResetUrl(r, deps, user.id));
}

/** POST /reset-password: sets the password, or sends another code; a new password leads to the sign-in. */
export async function submitReset(visit: RequestContext, deps: PasswordDeps) {
  const r: ResetRequest = Object.assign(visit, await findReset(visit, deps));
  const { t } = r;
  const act = r.field('act');
  const { errors, values } = r.form(resetForm(r.state.kind === 'code-proven'));
  if (!hasOpenReset(r)) return renderStartPage(r, { isOver: true });
  if (act === 'resend') return resend(r, deps);
  if (values === undefined) return rerender(r, deps, { errors });
  const { code, password, confirm } = values;
  const isRepeated = password === confirm;
  if (!isRepeated) {
    const inconsistent = { confirm: t('password.reset.inconsistent') };
    return rerender(r, deps, { errors: inconsistent, problem: { text: t('password.reset.mismatch') } });
  }
  const from = { ip: r.ip, lang: r.lang };
  const reset = await hashForPage(r, deps, () => resetPassword(deps, r.id, { code, password, from }));
  if (reset.kind === 'busy') return rerenderBusy(r, deps, reset.status);
  const outcome = toPublicOutcome(reset.kind === 'reset' ? reset.kind : reset.refusal.kind);
  r.log.info({ act: 'reset-password', outcome }, 'reset');
  if (reset.kind === 'reset') return complete(r, deps, reset.user);
  if (reset.refusal.kind !== 'no-flow') return rerender(r, deps, toRefusedState(r, reset.refusal));
  // Its page would ask for a code that is no longer valid.
  await deps.flows.delete(r.id);
  renderStartPage(r, { isOver: true });
}
