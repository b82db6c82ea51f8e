import { ReAuthenticatePage } from '../../views/sign-in/reauthenticate-page.tsx';
import { noticeText, takeSignInNotice } from '../federation/index.ts';
import {
  type Continuation,
  continuationFromQuery,
  type PageHandler,
  type RequestContext,
  refusalView,
  toControls,
} from '../http/index.ts';
import { hashForPage } from '../password/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import { challengeExpiredNotice } from './current-challenge.ts';
import type { SignInDeps } from './deps.ts';
import { linkedProviderButtons } from './linked-provider-buttons.ts';
import { passkeyRequestOptionsForUser } from './passkey-options.ts';
import { redirectToSignIn, type UserRequest } from './require-user.ts';
import { reauthenticateForm, reauthenticationRefusals } from './sign-in-texts.ts';
import { verifyCurrentPassword } from './verify-current-password.ts';

interface ReauthenticatePageState {
  error?: string;
  problem?: string;
  /** The result of an attempt at a provider. */
  providerNotice?: { kind: 'error' | 'info'; text: string } | undefined;
  status?: number;
}

const path = '/re-authenticate';

/** A request of a signed-in user who authenticates again. */
interface ReauthenticateRequest extends UserRequest {
  /** The target after it: the address names it, else it is the settings. */
  readonly target: Continuation;
}

function findTarget({ continuation }: RequestContext, publicUrl: string): Continuation {
  const isNamed = continuation.authorization !== undefined || continuation.returnTo !== undefined;
  return isNamed ? continuation : continuationFromQuery('?redirect=/settings', publicUrl);
}

/**
 * For signed-in users, whatever their next step is. A visitor who is not signed in (any more) signs in instead, and
 * continues to the same place.
 */
export function requireReauthentication(
  handler: PageHandler<SignInDeps, ReauthenticateRequest>,
): PageHandler<SignInDeps> {
  return async (r, deps) => {
    const found = await deps.sessions.getCurrentUser(r.req);
    if (!found) return redirectToSignIn(r, deps.publicUrl, r.continuation.returnTo ?? '/settings');
    return handler(Object.assign(r, { ...found, target: findTarget(r, deps.publicUrl) }), deps);
  };
}

export async function renderReauthenticatePage(
  r: ReauthenticateRequest,
  deps: Pick<SignInDeps, 'passkeys' | 'database' | 'federation'>,
  view: ReauthenticatePageState = {},
): Promise<void> {
  const { user, target: continuation } = r;
  const { search } = continuation;
  const address = `${path}${search}`;
  const state = r.viewAt(address, view);
  if (!state) return;
  const { status, ...texts } = state;
  const passkey = await passkeyRequestOptionsForUser(r, deps, { user, continuation });
  const providerButtons = await linkedProviderButtons(r, deps, { user, continuation });
  const { email } = user;
  r.render(
    ReAuthenticatePage,
    {
      action: address,
      controls: toControls(reauthenticateForm),
      email,
      hasPassword: user.passwordHash !== null,
      passkey,
      providerButtons,
      ...texts,
    },
    { title: 'signIn.reauthenticate.title', address, status, search },
  );
}

/** GET /re-authenticate?redirect=…: asks a signed-in user for the password again. */
export const showReauthenticate = requireReauthentication(async (r, deps) => {
  const isExpired = r.takesNotice(challengeExpiredNotice);
  const problem = isExpired ? { problem: r.t('mfa.challenge.errors.expired') } : {};
  const notice = takeSignInNotice(r, deps.federation.providers);
  await renderReauthenticatePage(r, deps, { ...problem, providerNotice: notice && noticeText(r.t, notice) });
});

/** POST /re-authenticate: the password, then the second factor if there is one, then a new session. */
export const submitReauthenticate = requireReauthentication(async (r, deps) => {
  const { user, session, target: continuation } = r;
  const { password = '' } = r.form(reauthenticateForm).values ?? {};
  const from = { ip: r.ip, device: deps.devices.recognise(r.req, user) };
  const confirmed = await hashForPage(r, deps, () => verifyCurrentPassword(deps, user, { password, from }));
  if (confirmed.kind === 'busy') {
    return renderReauthenticatePage(r, deps, { status: confirmed.status, problem: r.t('signIn.errors.busy') });
  }
  r.log.info({ act: 're-authenticate', outcome: toPublicOutcome(confirmed.kind) }, 're-authentication');
  if (confirmed.kind === 'too-many') deps.metrics.guessRefused(confirmed.limit);
  if (confirmed.kind !== 'correct') {
    const { status, text, field } = refusalView(r, reauthenticationRefusals, confirmed);
    return renderReauthenticatePage(r, deps, { status, ...(field ? { error: text } : { problem: text }) });
  }
  const factor = { amr: ['pwd'], remember: session.remember, continuation };
  const entered = await deps.signIn.completeReauthentication(r, user, factor);
  r.redirect(entered.kind === 'signed-in' ? deps.nextRedirect(user, continuation).address : entered.address);
});
