import type { Request, Response } from 'express';
import { type Continuation, continuationFromQuery } from '../http/index.ts';
import { type NormalisedEmail, toPublicOutcome } from '../shared/index.ts';
import { findUser, type User } from '../users/index.ts';
import { createUser, provisionUnverifiedUser } from './create-user.ts';
import type { FederationDeps } from './deps.ts';
import { toShownAt } from './freshness.ts';
import { upstreamAmr, type VerifiedResponse } from './handle-identity.ts';
import { FederationError, type UpstreamIdentity } from './identity.ts';
import { type FederatedIdentity, recordIdentityUse } from './identity-store.ts';
import type { PendingLink } from './pending-links.ts';
import { isOfDomain } from './providers/profile-claims.ts';
import { decide, loadFacts } from './provisioning-decision.ts';
import { updateRequiredSecondFactor } from './required-second-factor.ts';
import { linkConfirmationUrl, reusedPath } from './sign-in-notices.ts';

/** Number of new decisions after a conflict with a parallel request for the same identity or address. */
const maxTries = 4;

/** Carries out the result of `decide`. @throws {FederationError} */
export async function completeFederatedSignIn(
  deps: FederationDeps,
  req: Request,
  res: Response,
  answered: VerifiedResponse,
): Promise<void> {
  const { provider, identity, attempt } = answered;
  const continuation = continuationFromQuery(attempt.continuation, deps.publicUrl);
  const { lang } = deps.pages.context(req, res);
  const pending: FederatedSignInContext = { deps, req, res, answered, continuation };

  // Otherwise the request would ask again and again.
  if (identity.stale && (await deps.requiresFreshAuthentication(req, continuation)))
    throw new FederationError('not-fresh', 'fresh authentication required but not proven');
  for (let tries = 0; tries < maxTries; tries += 1) {
    const decision = decide(identity, provider, await loadFacts(deps, identity));
    switch (decision.kind) {
      case 'sign-in': {
        const user = await signInByLink(deps, decision.link, identity);
        if (user) return redirectAfterSignIn(pending, user, 'signed-in');
        break;
      }
      case 'create': {
        const user = await createUser(deps, { ...identity, email: decision.email }, lang);
        if (user) return redirectAfterSignIn(pending, user, 'created');
        break;
      }
      case 'claim': {
        const user = await provisionUnverifiedUser(deps, { user: decision.user, identity, lang });
        if (user) return redirectAfterSignIn(pending, user, 'claimed');
        break;
      }
      case 'confirm':
        return startEmailVerification(pending, decision.email);
      case 'offer':
        logOutcome(pending, 'offered');
        return res.redirect(303, linkConfirmationUrl(await beginOffer(pending, decision.user)));
      case 'prove':
        await beginOffer(pending, decision.user, decision.link.id);
        logOutcome(pending, 'to-prove');
        return res.redirect(303, reusedPath);
      case 'refuse':
        throw new FederationError(decision.why, 'refused by the provisioning rule');
    }
  }
  // No user has the address, but it is reserved for its former user (`security.md`, rule 14).
  throw new FederationError('email-taken', 'email address reserved for another user');
}

interface FederatedSignInContext {
  deps: FederationDeps;
  req: Request;
  res: Response;
  answered: VerifiedResponse;
  continuation: Continuation;
}

function logOutcome({ deps: { log, metrics }, answered: { provider } }: FederatedSignInContext, result: string): void {
  const outcome = toPublicOutcome(result);
  log.info({ act: 'federation', provider: provider.id, outcome }, 'federation');
  metrics.signIn(provider.kind, outcome);
}

async function beginOffer(
  { deps, req, res, answered, continuation }: FederatedSignInContext,
  user: User,
  linkId?: string,
): Promise<PendingLink> {
  const { identity, attempt } = answered;
  const about = { userId: user.id, identity, ...(linkId !== undefined && { linkId }) };
  const offer = { ...about, errand: continuation.search, remember: attempt.remember, offeredAtMs: deps.now() };
  await deps.offers.begin(req, res, offer);
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

/** Signs in and continues: a new user continues to the step PLAN, if there is one. */
async function redirectAfterSignIn(
  pending: FederatedSignInContext,
  user: User,
  how: 'signed-in' | 'created' | 'claimed',
): Promise<void> {
  const { deps, req, res, answered, continuation } = pending;
  const { provider, identity, attempt } = answered;
  const plan = how === 'signed-in' ? undefined : await deps.afterFederatedSignUp(user, continuation);
  const entered = await deps.completeSignIn(req, res, user, {
    amr: upstreamAmr(provider),
    remember: attempt.remember,
    continuation,
    upstream: identity.session,
    presentedAtMs: toShownAt(identity, deps.now()),
    requireAllFactors: await deps.requiresAllFactors(req, continuation),
  });
  logOutcome(pending, how === 'signed-in' ? entered.kind : how);
  res.redirect(303, entered.kind === 'signed-in' && plan !== undefined ? plan : entered.address);
}

/** The provider does not vouch for the address: a code proves its owner. */
async function startEmailVerification(pending: FederatedSignInContext, email: NormalisedEmail): Promise<void> {
  const { deps, req, res, answered, continuation } = pending;
  const { lang } = deps.pages.context(req, res);
  const { remember } = answered.attempt;
  const more = { continuation, remember, lang, company: isOfDomain(email, answered.provider.domains) };
  const started = await deps.startEmailVerification(req, res, { ...answered.identity, email }, more);
  switch (started.kind) {
    case 'begun':
      logOutcome(pending, 'not-confirmed');
      return res.redirect(303, started.address);
    case 'already-in-use':
      throw new FederationError('email-taken', 'email address not verified by the provider');
    case 'too-many':
      throw new FederationError('too-many', 'too many codes to one address or from one network');
  }
}
