import type { Request, Response } from 'express';
import { continuationFromQuery } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import type { FederationAttempt } from './attempts.ts';
import { completeFederatedSignIn } from './complete-federated-sign-in.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError, type UpstreamIdentity } from './identity.ts';
import { findIdentity, recordIdentityUse } from './identity-store.ts';
import { linkAccount } from './link-account.ts';
import type { Provider } from './providers.ts';
import { isSamePerson } from './same-person.ts';

/** RFC 8176 has no value for federation; other products use this one too. */
export const upstreamAmr = ({ secondFactor }: Pick<Provider, 'secondFactor'>): string[] =>
  secondFactor === 'sufficient' ? ['fed', 'mfa'] : ['fed'];

export interface VerifiedResponse {
  provider: Provider;
  identity: UpstreamIdentity;
  /** It is used up by now. */
  attempt: Pick<FederationAttempt, 'intent' | 'continuation' | 'remember'>;
}

/** Processes a valid response. @throws {FederationError} */
export async function handleIdentity(
  deps: FederationDeps,
  req: Request,
  res: Response,
  answered: VerifiedResponse,
): Promise<void> {
  const { intent } = answered.attempt;
  switch (intent.kind) {
    case 'sign-in':
      return completeFederatedSignIn(deps, req, res, answered);
    case 'link':
      return linkAccount(deps, req, res, { ...answered, intent });
    case 're-authenticate':
      return completeReauthentication(deps, req, res, { ...answered, intent });
  }
}

/** The user is signed in in this very session, and re-authenticates with a linked provider. */
async function completeReauthentication(
  deps: FederationDeps,
  req: Request,
  res: Response,
  {
    provider,
    identity,
    attempt,
    intent,
  }: VerifiedResponse & { intent: FederationAttempt['intent'] & { kind: 're-authenticate' } },
): Promise<void> {
  const { database, sessions, publicUrl, now } = deps;
  const member = await sessions.getCurrentUser(req);
  const same = member?.user.id === intent.userId && getCurrentSession(req)?.idHash === intent.sessionIdHash;
  if (!member || !same) throw new FederationError('foreign', 'session of the attempt has ended');
  const known = await findIdentity(database.db, identity);
  if (known?.userId !== member.user.id) throw new FederationError('not-yours', 'other identity than the linked one');
  if (!isSamePerson(identity, known, member.user))
    throw new FederationError('not-yours', 'subject possibly reassigned: other address and name');
  await recordIdentityUse(database.db, { id: known.id, identity, nowMs: now() });
  if (identity.stale) throw new FederationError('not-fresh', 'reauthentication not proven by the provider');
  const continuation = continuationFromQuery(attempt.continuation, publicUrl);
  const { address } = await deps.completeReauthentication(req, res, member.user, {
    amr: upstreamAmr(provider),
    remember: member.session.remember,
    continuation,
    upstream: identity.session,
  });
  res.redirect(303, address);
}
