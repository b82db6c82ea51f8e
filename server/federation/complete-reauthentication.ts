import { continuationFromQuery, type RequestContext } from '../http/index.ts';
import type { AttemptDecision, VerifiedResponse } from './attempt-decision.ts';
import type { FederationDeps } from './deps.ts';
import { recordIdentityUse } from './identity-store.ts';
import { upstreamAmr } from './providers.ts';

/** @returns the next address */
export async function completeReauthentication(
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
