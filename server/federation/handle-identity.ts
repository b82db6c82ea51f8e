import { continuationFromQuery, type NextPage, type RequestContext } from '../http/index.ts';
import type { UserId } from '../shared/index.ts';
import {
  type AttemptDecision,
  type AttemptFacts,
  type AttemptRefusal,
  transition,
  type VerifiedResponse,
} from './attempt-state.ts';
import { completeFederatedSignIn } from './complete-federated-sign-in.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError, type UpstreamIdentity } from './identity.ts';
import { findIdentity, recordIdentityUse } from './identity-store.ts';
import { linkAccount } from './link-account.ts';
import { upstreamAmr } from './providers.ts';
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
    const facts = await loadAttemptFacts(r, deps, response);
    const { attempt, ...verified } = response;
    const next = transition({ kind: 'returned', attempt }, { kind: 'response-verified', ...verified, facts });
    if (next.kind === 'refuse')
      throw await toError(deps, response, { ...next, userId: findSubject(facts, response.identity) });
    const address = await carryOut(r, deps, { response, decision: next.decision });
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

/** The user whom a verified identity would sign in. */
function findSubject(facts: AttemptFacts, { emailVerified }: UpstreamIdentity): UserId | undefined {
  if (facts.kind !== 'sign-in') return undefined;
  return (facts.linked ?? (emailVerified ? facts.sameAddress : undefined))?.id;
}

async function toError(
  { database, now }: FederationDeps,
  { identity }: VerifiedResponse,
  { why, detail, usedLink, userId }: AttemptRefusal & { userId: UserId | undefined },
): Promise<FederationError> {
  if (usedLink) await recordIdentityUse(database.db, { id: usedLink.id, identity, nowMs: now() });
  return new FederationError(why, detail, userId === undefined ? {} : { userId });
}

/** @returns the next address; undefined: a parallel request was faster, so the decision must be repeated */
async function carryOut(
  r: RequestContext,
  deps: FederationDeps,
  { response, decision }: { response: VerifiedResponse; decision: AttemptDecision },
): Promise<NextPage | undefined> {
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
  }
}

/** @returns the next address */
async function completeReauthentication(
  r: RequestContext,
  deps: FederationDeps,
  response: VerifiedResponse & Extract<AttemptDecision, { kind: 're-authenticate' }>,
): Promise<string> {
  const { provider, identity, attempt, user, remember, link } = response;
  await recordIdentityUse(deps.database.db, { id: link.id, identity, nowMs: deps.now() });
  const { address } = await deps.completeReauthentication(r, user, {
    amr: upstreamAmr(provider),
    remember,
    continuation: continuationFromQuery(attempt.continuation, deps.publicUrl),
    upstream: identity.session,
  });
  return address;
}
