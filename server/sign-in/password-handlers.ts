import { type ReadForm, type RequestContext, refusalView } from '../http/index.ts';
import { hashForPage, mailInitialPasswordHint, startInitialPassword } from '../password/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import { findPending, type SignInDeps, type SignInPageState } from './deps.ts';
import { findHomeRealm, type HomeRealm, redirectsToProvider } from './home-realm.ts';
import { askForMailedCode } from './mailed-code-page.ts';
import { signInByPassword } from './password-sign-in.ts';
import { findNamedClient, renderSignInPage } from './sign-in-handlers.ts';
import type { PasswordRefusal, PasswordSignInResult } from './sign-in-state.ts';
import { passwordRefusals, signInForm } from './sign-in-texts.ts';

/** A submitted sign-in form, without the password. */
type PasswordRequest = RequestContext & {
  readonly username: string;
  readonly remember: boolean;
};

async function rerender(r: PasswordRequest, deps: SignInDeps, form: Pick<SignInPageState, 'errors' | 'status'>) {
  const { continuation, username, remember } = r;
  const clientName = ((await findPending(r, deps)) ?? (await findNamedClient(deps, continuation)))?.clientName;
  renderSignInPage(r, deps, { continuation, clientName, values: { username, remember }, ...form });
}

function logOutcome(r: RequestContext, { metrics }: SignInDeps, kind: string): void {
  const outcome = toPublicOutcome(kind);
  r.log.info({ act: 'sign-in', outcome }, 'sign-in');
  metrics.signIn('password', outcome);
}

function redirectHome(r: PasswordRequest, deps: SignInDeps, { provider, email }: HomeRealm) {
  const { continuation, remember } = r;
  return deps.federation.signIn(r, provider, { continuation, remember, loginHint: email });
}

const findHome = (r: PasswordRequest, deps: SignInDeps) => findHomeRealm(deps, r.username, r.req.get('user-agent'));

/** The limit for all visitors is used up: a code by mail, or the provider of the address's domain. */
function sendMailedCode(r: PasswordRequest, deps: SignInDeps, user: User | undefined) {
  const home = findHome(r, deps);
  if (home) return redirectHome(r, deps, home);
  const { remember, continuation } = r;
  return askForMailedCode(r, deps, { user, remember, continuation });
}

/** An imported user without a password sets the first one; the installation does not conceal who has an account. */
async function startFirstPassword(r: PasswordRequest, deps: SignInDeps, user: User) {
  const { username, continuation } = r;
  const first = await startInitialPassword(r, deps.password, { user, username, continuation });
  if (first.kind === 'begun') return r.redirect(first.page);
  return rerender(r, deps, { status: 429, errors: { form: first.text } });
}

async function refuse(
  r: PasswordRequest,
  deps: SignInDeps,
  outcome: Extract<PasswordSignInResult, { kind: 'refused' | 'first-password' }>,
) {
  const awaiting = outcome.kind === 'first-password' ? outcome.user : undefined;
  const refusal: PasswordRefusal = outcome.kind === 'refused' ? outcome.refusal : { kind: 'wrong-password' };
  if (deps.uniformAnswers && refusal.kind === 'wrong-password') {
    mailInitialPasswordHint(r, deps.password, { username: r.username, awaiting });
  }
  if (refusal.kind === 'too-many') deps.metrics.guessRefused(refusal.limit);
  const home = redirectsToProvider(refusal) ? findHome(r, deps) : undefined;
  if (home) return redirectHome(r, deps, home);
  if (awaiting && !deps.uniformAnswers) return startFirstPassword(r, deps, awaiting);
  const { status, text } = refusalView(r, passwordRefusals, refusal);
  return rerender(r, deps, { status, errors: { form: text } });
}

/** A form with an empty or malformed field. Without a password an address of a provider's domain leads there. */
function refuseForm(r: PasswordRequest, deps: SignInDeps, { errors, text }: ReadForm<typeof signInForm>) {
  const isEmpty = Object.keys(errors).length > 0;
  logOutcome(r, deps, isEmpty ? 'empty' : 'malformed');
  const home = errors.password === undefined ? undefined : findHome(r, deps);
  if (home) return redirectHome(r, deps, home);
  return rerender(r, deps, {
    status: 400,
    errors: isEmpty ? errors : { form: `${text ?? ''}. ${r.t('signIn.errors.validationHint')}` },
  });
}

/** The password was right: the second factor or a session is next. */
async function complete(r: PasswordRequest, deps: SignInDeps, user: User) {
  const { remember, continuation } = r;
  const requiresAllFactors = async () => (await findPending(r, deps))?.requiresAllFactors === true;
  const factor = { amr: ['pwd'], remember, continuation, requiresAllFactors };
  const entered = await deps.signIn.completeSignIn(r, user, factor);
  logOutcome(r, deps, entered.kind);
  r.redirect(entered.kind === 'signed-in' ? deps.nextRedirect(user, continuation).address : entered.address);
}

/**
 * POST /sign-in: checks the password and continues to the next step: the second factor, or a session. An address of a
 * provider's domain leads to the provider, unless its password is right.
 */
export async function submitPassword(visit: RequestContext, deps: SignInDeps) {
  const form = visit.form(signInForm);
  const { typed, values } = form;
  const remember = typed.remember === '1';
  const r = Object.assign(visit, { username: typed.username, remember });
  if (values === undefined) return refuseForm(r, deps, form);
  const { findUnverifiedAccount } = deps.confirmations;
  const outcome = await hashForPage(r, deps, () =>
    signInByPassword({ ...deps, findUnverifiedAccount }, values, {
      ip: r.ip,
      device: (user) => deps.devices.recognise(r.req, user),
      onRefused: (user) => deps.hooks.onSignInRefused({ userId: user.id, method: 'password', ip: r.ip }),
    }),
  );
  if (outcome.kind !== 'first-factor') {
    logOutcome(r, deps, outcome.kind === 'refused' ? outcome.refusal.kind : outcome.kind);
  }
  switch (outcome.kind) {
    case 'busy':
      return rerender(r, deps, { status: outcome.status, errors: { form: r.t('signIn.errors.busy') } });
    case 'code-due':
      return sendMailedCode(r, deps, outcome.user);
    case 'refused':
    case 'first-password':
      return refuse(r, deps, outcome);
    case 'not-confirmed': {
      const recipient = { ...outcome.account, remember, continuation: r.continuation };
      return r.redirect(await deps.confirmations.startEmailVerification(r, recipient));
    }
    case 'first-factor':
      return complete(r, deps, outcome.user);
  }
}
