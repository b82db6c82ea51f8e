import { SignInPage } from '../../views/sign-in/sign-in-page.tsx';
import { leadsToLink, noticeText, takeSignInNotice } from '../federation/index.ts';
import {
  type Continuation,
  continuationFromQuery,
  HttpError,
  prefilledEmail,
  type RequestContext,
  type WithKeptInput,
} from '../http/index.ts';
import { passwordResetNotice } from '../password/index.ts';
import { isSignedOutElsewhere } from '../sessions/index.ts';
import type { User } from '../users/index.ts';
import { challengeExpiredNotice } from './current-challenge.ts';
import {
  type AuthorizeShorthand,
  findPending,
  type PendingAuthorization,
  type SignInDeps,
  type SignInPageState,
} from './deps.ts';
import { continueAtProvider, providerAskedFor } from './one-provider.ts';
import {
  passkeyRequestOptions,
  type SignInPageView,
  signInKeeps,
  toKeptValues,
  toSignInPageProps,
} from './sign-in-page-props.ts';

/** Renders the sign-in page, new or with errors; the password is never sent back. */
export function renderSignInPage(
  r: RequestContext,
  deps: Pick<SignInDeps, 'passkeys' | 'federation' | 'publicUrl'>,
  { continuation, clientName, providerNotice, hiddenProvider, ...form }: SignInPageView,
): void {
  const { search } = continuation;
  const address = `/${search}`;
  const state = r.viewAt<SignInPageState & WithKeptInput>(address, form);
  if (!state) return;
  const passkey = passkeyRequestOptions(r, deps, continuation);
  const visitor = { t: r.t, lang: r.lang, userAgent: r.req.get('user-agent') };
  const { keptInput, ...rest } = state;
  const view = {
    ...rest,
    ...(keptInput && { values: toKeptValues(keptInput) }),
    continuation,
    clientName,
    providerNotice,
    hiddenProvider,
  };
  r.render(SignInPage, toSignInPageProps(visitor, deps, { ...view, passkey }), {
    title: 'signIn.title',
    address,
    status: state.status,
    search,
    keeps: signInKeeps,
  });
}

/** GET /sign-in: an address left over from the form (a bookmark, a restored tab) leads to the form's page. */
export function toSignInPage(r: RequestContext): void {
  const { originalUrl } = r.req;
  const at = originalUrl.indexOf('?');
  r.redirect(at < 0 ? '/' : `/${originalUrl.slice(at)}`);
}

/**
 * For an address that only names a client app: after the sign-in the user continues from there to the start of its
 * request.
 */
const initiateLoginQuery = (clientId: string) => `?${new URLSearchParams({ client_id: clientId })}`;

/** The continuation of a sign-in that only names a client app: after it the user returns here. */
function initiateLoginContinuation(continuation: Continuation, publicUrl: string): Continuation {
  const parameters = new URLSearchParams(continuation.search);
  if (continuation.returnTo !== undefined) return continuation;
  parameters.set('redirect', `/${initiateLoginQuery(parameters.get('client_id') ?? '')}`);
  return continuationFromQuery(`?${parameters}`, publicUrl);
}

/**
 * The client app that an address names without a request; undefined if there is a request, or no client app is named.
 */
export async function findNamedClient(
  { resolveShorthand }: Pick<SignInDeps, 'resolveShorthand'>,
  continuation: Continuation,
): Promise<AuthorizeShorthand | undefined> {
  return continuation.authorization === undefined ? resolveShorthand(continuation) : undefined;
}

/**
 * The sign-in page for an expired request that cannot start again here. If possible it leads to the client app's start.
 */
async function renderExpired(r: RequestContext, deps: SignInDeps): Promise<void> {
  const { t } = r;
  const clientId = new URLSearchParams(r.continuation.search).get('client_id');
  const continuation = clientId ? continuationFromQuery(initiateLoginQuery(clientId), deps.publicUrl) : { search: '' };
  const named = await findNamedClient(deps, continuation).catch(() => undefined);
  if (named?.kind !== 'client' || named.href === undefined) {
    const errors = { form: t('signIn.errors.requestExpired') };
    return renderSignInPage(r, deps, { continuation: { search: '' }, errors, status: 400 });
  }
  const { clientName } = named;
  const providerNotice = { kind: 'info' as const, text: t('signIn.restarting', { clientName }) };
  const start = initiateLoginContinuation(continuation, deps.publicUrl);
  renderSignInPage(r, deps, { continuation: start, clientName, providerNotice, status: 400 });
}

/** The facts from which the landing page decides. */
interface LandingFacts {
  /** The user who is signed in in this browser. */
  user: User | undefined;
  pending: PendingAuthorization | undefined;
  /** The session suffices for the pending request. */
  isSatisfied: boolean;
  named: AuthorizeShorthand | undefined;
  /** The address has a target of its own. */
  hasReturnTo: boolean;
  /** The address demands the form (`forceAuth`), or the form was just refused. */
  isForced: boolean;
}

type LandingDecision =
  | { kind: 'redirect'; href: string }
  /** To the client app, which starts its request itself. */
  | { kind: 'redirect-away'; href: string; clientName: string }
  /** The pending request needs one more factor only. */
  | { kind: 'step-up' }
  /** A signed-in user has nothing to do here. */
  | { kind: 'next-step'; user: User }
  | { kind: 'form' };

/** Decides what GET / answers, once the pending request is known to exist. */
function decideLanding(facts: LandingFacts): LandingDecision {
  const { user, pending, isSatisfied, named, hasReturnTo, isForced } = facts;
  if (named?.kind === 'authorize') return { kind: 'redirect', href: named.href };
  const goesOn = named?.kind === 'initiate-login' || (user !== undefined && !isForced && !hasReturnTo);
  // Often the next step after a form, whose policy does not allow a client app's address.
  if (named?.href !== undefined && goesOn) {
    return { kind: 'redirect-away', href: named.href, clientName: named.clientName };
  }
  if (!user || isForced) return { kind: 'form' };
  if (!pending || isSatisfied) return { kind: 'next-step', user };
  return pending.requiresStepUpOnly ? { kind: 'step-up' } : { kind: 'form' };
}

/** The offered link to which the sign-in leads; a reload shows its notice too. */
const findOffer = async (r: RequestContext, { federation }: SignInDeps) =>
  leadsToLink(r.continuation) ? federation.findOffer(r) : undefined;

const toNotice = (r: RequestContext, { federation }: SignInDeps, offer: Awaited<ReturnType<typeof findOffer>>) =>
  takeSignInNotice(r, federation.providers) ?? offer;

/** The address to fill in: of the offered account, of the request, or of the page's address. */
const knownUsername = (r: RequestContext, pending: PendingAuthorization | undefined, offered: string | undefined) =>
  offered ?? pending?.loginHint ?? prefilledEmail(r);

/** The sign-in form with its notices; or redirects to the one provider that the request asks for. */
async function renderLandingForm(
  r: RequestContext,
  deps: SignInDeps,
  facts: Pick<LandingFacts, 'user' | 'pending' | 'named'> & { isRefused: boolean },
) {
  const { t, continuation } = r;
  const { user, pending, named, isRefused } = facts;
  const isReset = r.takesNotice(passwordResetNotice);
  const isExpired = r.takesNotice(challengeExpiredNotice);
  const offer = await findOffer(r, deps);
  const notice = toNotice(r, deps, offer);
  const isSignedOut = isSignedOutElsewhere(deps.cookies, r.req, r.res) && !isReset && !isExpired;
  const signedOut = isSignedOut ? { kind: 'info' as const, text: t('signIn.errors.sessionEnded') } : undefined;
  const providerNotice = notice ? noticeText(t, notice) : signedOut;
  // After a refusal, or with a notice, the page shows every sign-in method.
  const provider = isRefused || notice || isExpired || isReset ? undefined : providerAskedFor(r, deps, pending);
  if (provider)
    return continueAtProvider(r, deps, { provider, pending, providerNotice, isSignedIn: user !== undefined });
  const isOffer = notice?.why === 'offer';
  renderSignInPage(r, deps, {
    continuation: named?.href === undefined ? continuation : initiateLoginContinuation(continuation, deps.publicUrl),
    clientName: pending?.clientName ?? named?.clientName,
    values: { username: knownUsername(r, pending, offer?.email), remember: false },
    isReset,
    providerNotice,
    hiddenProvider: isOffer ? notice.provider : undefined,
    ...(isExpired && { errors: { form: t('mfa.challenge.errors.expired') } }),
  });
}

/** GET /: a signed-in user continues to the next step, everyone else sees the form. */
export async function showLanding(r: RequestContext, deps: SignInDeps) {
  const { continuation } = r;
  const pending = await findPending(r, deps);
  const found = await deps.sessions.getCurrentUser(r.req);
  if (continuation.authorization !== undefined && !pending) {
    const { options } = await deps.toExpiredError(r.req, continuation);
    // A signed-in user needs no form: often the request has succeeded, and this is the back button.
    if (found || options.redirectTo !== undefined) throw new HttpError('requestExpired', options);
    return renderExpired(r, deps);
  }
  // A signed-in user tried to sign in as another user.
  const isRefused = r.followsRefusal(`/${continuation.search}`);
  const named = await findNamedClient(deps, continuation);
  const decision = decideLanding({
    user: found?.user,
    pending,
    isSatisfied: found !== undefined && pending?.satisfiedBy(found.session) === true,
    named,
    hasReturnTo: continuation.returnTo !== undefined,
    isForced: r.req.query.forceAuth !== undefined || isRefused,
  });
  switch (decision.kind) {
    case 'redirect':
      return r.redirect(decision.href);
    case 'redirect-away':
      return r.redirectAway(decision.href, decision.clientName);
    case 'step-up':
      return r.redirect(`/re-authenticate${continuation.search}`);
    case 'next-step':
      return r.redirect(deps.nextRedirect(decision.user, continuation).address);
    case 'form':
      return renderLandingForm(r, deps, { user: found?.user, pending, named, isRefused });
  }
}
