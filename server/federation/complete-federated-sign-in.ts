import { continuationFromQuery, type NextPage, type RequestContext, recentAuthMs } from '../http/index.ts';
import { type NormalisedEmail, toPublicOutcome } from '../shared/index.ts';
import { findUser, type User } from '../users/index.ts';
import type { SignInDecision, VerifiedResponse } from './attempt-state.ts';
import { createUser, provisionUnverifiedUser } from './create-user.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError, type UpstreamIdentity } from './identity.ts';
import { type FederatedIdentity, recordIdentityUse } from './identity-store.ts';
import type { PendingLink } from './pending-links.ts';
import { isOfDomain } from './providers/profile-claims.ts';
import { type Provider, upstreamAmr } from './providers.ts';
import { updateRequiredSecondFactor } from './required-second-factor.ts';
import { proofPageAfter, reusedPath } from './sign-in-notices.ts';

/**
 * Carries out the decision about a sign-in.
 * @returns the next address; undefined: a parallel request was faster, so the decision must be repeated
 * @throws {FederationError} email-taken, too-many
 */
export async function completeFederatedSignIn(
  r: RequestContext,
  deps: FederationDeps,
  { decision, ...response }: VerifiedResponse & { decision: SignInDecision },
): Promise<NextPage | undefined> {
  const { provider, identity } = response;
  switch (decision.kind) {
    case 'sign-in': {
      const user = await signInByLink(deps, decision.link, identity);
      return user && startSession(r, deps, { ...response, user, how: 'signed-in' });
    }
    case 'create': {
      const user = await createUser(deps, { ...identity, email: decision.email }, r.lang);
      return user && startSession(r, deps, { ...response, user, how: 'created' });
    }
    case 'claim': {
      const user = await provisionUnverifiedUser(deps, { user: decision.user, identity, lang: r.lang });
      return user && startSession(r, deps, { ...response, user, how: 'claimed' });
    }
    case 'confirm':
      return startEmailVerification(r, deps, { ...response, email: decision.email });
    case 'offer':
      logOutcome(deps, provider, 'offered');
      return proofPageAfter(await beginOffer(r, deps, { ...response, user: decision.user }));
    case 'prove':
      await beginOffer(r, deps, { ...response, user: decision.user, linkId: decision.link.id });
      logOutcome(deps, provider, 'to-prove');
      return reusedPath;
  }
}

function logOutcome({ log, metrics }: FederationDeps, provider: Provider, result: string): void {
  const outcome = toPublicOutcome(result);
  log.info({ act: 'federation', provider: provider.id, outcome }, 'federation');
  metrics.signIn(provider.kind, outcome);
}

async function beginOffer(
  r: RequestContext,
  { offers, publicUrl, now }: FederationDeps,
  { identity, attempt, user, linkId }: VerifiedResponse & { user: User; linkId?: string },
): Promise<PendingLink> {
  const { search } = continuationFromQuery(attempt.continuation, publicUrl);
  const about = { userId: user.id, identity, ...(linkId !== undefined && { linkId }) };
  const offer = { ...about, errand: search, remember: attempt.remember, offeredAtMs: now() };
  await offers.begin(r, offer);
  return offer;
}

/** @returns the updated user; undefined if the link no longer exists */
function signInByLink(
  { database, providers, now }: FederationDeps,
  link: FederatedIdentity,
  identity: UpstreamIdentity,
): Promise<User | undefined> {
  return database.transaction(async (trx) => {
    if (!(await recordIdentityUse(trx, { id: link.id, identity, nowMs: now() }))) return undefined;
    await updateRequiredSecondFactor(trx, providers, { userId: link.userId, nowMs: now() });
    return findUser(trx, link.userId);
  });
}

/** Signs in. @returns the next address: a new user continues to the step PLAN, if there is one */
async function startSession(
  r: RequestContext,
  deps: FederationDeps,
  response: VerifiedResponse & { user: User; how: 'signed-in' | 'created' | 'claimed' },
): Promise<string> {
  const { provider, identity, attempt, user, how } = response;
  const continuation = continuationFromQuery(attempt.continuation, deps.publicUrl);
  const plan = how === 'signed-in' ? undefined : await deps.afterFederatedSignUp(user, continuation);
  const entered = await deps.completeSignIn(r, user, {
    amr: upstreamAmr(provider),
    remember: attempt.remember,
    continuation,
    upstream: identity.session,
    presentedAtMs: toShownAt(identity, deps.now()),
    requiresAllFactors: () => deps.requiresAllFactors(r, continuation),
  });
  logOutcome(deps, provider, how === 'signed-in' ? entered.kind : how);
  return entered.kind === 'signed-in' && plan !== undefined ? plan : entered.address;
}

/** The provider does not vouch for the address: a code proves its owner. @returns the page for the code */
async function startEmailVerification(
  r: RequestContext,
  deps: FederationDeps,
  { provider, identity, attempt, email }: VerifiedResponse & { email: NormalisedEmail },
): Promise<string> {
  const started = await deps.startEmailVerification(r, {
    identity: { ...identity, email },
    continuation: continuationFromQuery(attempt.continuation, deps.publicUrl),
    remember: attempt.remember,
    company: isOfDomain(email, provider.domains),
  });
  switch (started.kind) {
    case 'begun':
      logOutcome(deps, provider, 'not-confirmed');
      return started.address;
    case 'already-in-use':
      throw new FederationError('email-taken', 'email address not verified by the provider');
    case 'too-many':
      throw new FederationError('too-many', 'too many codes to one address or from one network');
  }
}

/**
 * The time of the authentication at the provider. A sign-in without proof of freshness counts as too old to be recent:
 * it can sign in, but not change credentials.
 * @returns undefined: now. Milliseconds since the epoch
 */
function toShownAt(
  { stale, shownAtMs }: Pick<UpstreamIdentity, 'stale' | 'shownAtMs'>,
  nowMs: number,
): number | undefined {
  if (!stale) return shownAtMs;
  return Math.min(shownAtMs ?? Number.POSITIVE_INFINITY, nowMs - recentAuthMs - 1_000);
}
