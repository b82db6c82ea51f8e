import type { Request, Response } from 'express';
import { errandOfSearch } from '../http/index.ts';
import { currentSession } from '../session/index.ts';
import type { Attempt } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { FederationRefusal, type UpstreamIdentity } from './identity.ts';
import { findIdentity, noteIdentityUse } from './identity-store.ts';
import { link } from './link.ts';
import type { Provider } from './providers.ts';
import { isSamePerson } from './same-person.ts';
import { signInAs } from './sign-in-as.ts';

/** RFC 8176 has no word for it; this is what others say, too. */
export const amrOf = ({ secondFactor }: Pick<Provider, 'secondFactor'>): string[] =>
  secondFactor === 'sufficient' ? ['fed', 'mfa'] : ['fed'];

export interface Answered {
  provider: Provider;
  identity: UpstreamIdentity;
  /** Used up by now. */
  attempt: Pick<Attempt, 'intent' | 'errand' | 'remember'>;
}

/** What becomes of an answer that is right. @throws {FederationRefusal} */
export async function finish(deps: FederationDeps, req: Request, res: Response, answered: Answered): Promise<void> {
  const { intent } = answered.attempt;
  switch (intent.kind) {
    case 'sign-in':
      return signInAs(deps, req, res, answered);
    case 'link':
      return link(deps, req, res, { ...answered, intent });
    case 're-authenticate':
      return enterAgain(deps, req, res, { ...answered, intent });
  }
}

/** The member is signed in in this very session, and shows again by a linked provider who they are. */
async function enterAgain(
  deps: FederationDeps,
  req: Request,
  res: Response,
  { provider, identity, attempt, intent }: Answered & { intent: Attempt['intent'] & { kind: 're-authenticate' } },
): Promise<void> {
  const { database, sessions, publicUrl, now } = deps;
  const member = await sessions.member(req);
  const same = member?.user.id === intent.userId && currentSession(req)?.idHash === intent.sessionIdHash;
  if (!member || !same) throw new FederationRefusal('foreign', 'the session that asked has ended');
  const known = await findIdentity(database.db, identity);
  if (known?.userId !== member.user.id)
    throw new FederationRefusal('not-yours', 'another identity than the linked one');
  if (!isSamePerson(identity, known, member.user))
    throw new FederationRefusal(
      'not-yours',
      'the subject may be of another person by now: address and name are others',
    );
  await noteIdentityUse(database.db, known.id, identity, now());
  if (identity.stale) throw new FederationRefusal('not-fresh', 'the provider does not show that it asked again');
  const errand = errandOfSearch(attempt.errand, publicUrl);
  const { address } = await deps.enterAgain(req, res, member.user, {
    ...{ amr: amrOf(provider), remember: member.session.remember, errand, upstream: identity.session },
  });
  res.redirect(303, address);
}
