import { continuationFromQuery, type RequestContext } from '../http/index.ts';
import { type AttemptDecision, type AttemptFacts, decideAttempt, type VerifiedResponse } from './attempt-decision.ts';
import { completeFederatedSignIn } from './complete-federated-sign-in.ts';
import { completeReauthentication } from './complete-reauthentication.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError } from './identity.ts';
import { findIdentity, recordIdentityUse } from './identity-store.ts';
import { linkAccount } from './link-account.ts';
import { loadFacts } from './provisioning-decision.ts';

/** Number of new decisions after a conflict with a parallel request for the same identity or address. */
const maxTries = 4;

/** Decides about a verified response, and carries the decision out. @throws {FederationError} */
export async function handleIdentity(
  r: RequestContext,
  deps: FederationDeps,
  response: VerifiedResponse,
): Promise<void> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const decision = decideAttempt(response, await loadAttemptFacts(r, deps, response));
    const address = await carryOut(r, deps, { response, decision });
    if (address !== undefined) return r.redirect(address);
  }
  // No user has the address, but it is reserved for its former user (`security.md`, rule 14).
  throw new FederationError('email-taken', 'email address reserved for another user');
}

async function loadAttemptFacts(
  r: RequestContext,
  deps: FederationDeps,
  { identity, attempt }: VerifiedResponse,
): Promise<AttemptFacts> {
  const { database, sessions, publicUrl } = deps;
  const { intent } = attempt;
  switch (intent.kind) {
    case 'sign-in': {
      const continuation = continuationFromQuery(attempt.continuation, publicUrl);
      // It matters only for a stale authentication.
      const requiresFresh = identity.stale === true && (await deps.requiresFreshAuthentication(r, continuation));
      return { ...intent, requiresFresh, ...(await loadFacts(deps, identity)) };
    }
    case 'link':
      return { ...intent, current: await sessions.getCurrentUser(r.req) };
    case 're-authenticate': {
      const current = await sessions.getCurrentUser(r.req);
      return { ...intent, current, link: await findIdentity(database.db, identity) };
    }
  }
}

/** @returns the next address; undefined: a parallel request was faster, so the decision must be repeated */
async function carryOut(
  r: RequestContext,
  deps: FederationDeps,
  { response, decision }: { response: VerifiedResponse; decision: AttemptDecision },
): Promise<string | undefined> {
  switch (decision.kind) {
    case 'sign-in':
    case 'create':
    case 'claim':
    case 'confirm':
    case 'offer':
    case 'prove':
      return completeFederatedSignIn(r, deps, { ...response, decision });
    case 'link':
      return linkAccount(r, deps, { ...response, user: decision.user });
    case 're-authenticate':
      return completeReauthentication(r, deps, { ...response, ...decision });
    case 'refuse': {
      const { why, detail, usedLink } = decision;
      const { identity } = response;
      if (usedLink) await recordIdentityUse(deps.database.db, { id: usedLink.id, identity, nowMs: deps.now() });
      throw new FederationError(why, detail);
    }
  }
}
