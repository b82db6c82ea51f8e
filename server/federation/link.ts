import type { Request, Response } from 'express';
import { holdMember, type User } from '../account/index.ts';
import { tellOfChange } from '../messages/index.ts';
import { currentSession, originOf } from '../session/index.ts';
import type { Attempt } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import type { Answered } from './finish.ts';
import { FederationRefusal, type UpstreamIdentity } from './identity.ts';
import { findIdentity, insertIdentity, isSameIdentity, noteIdentityUse } from './identity-store.ts';
import { settleSecondFactor } from './linking.ts';
import { accountThere } from './links.ts';
import type { Provider } from './providers.ts';

type Made = 'linked' | 'known' | 'linked-elsewhere' | 'gone';

async function make(
  deps: FederationDeps,
  req: Request,
  { user, provider, identity }: { user: User; provider: Provider; identity: UpstreamIdentity },
): Promise<Made> {
  const { database, providers, now } = deps;
  return database.transaction(async (trx): Promise<Made> => {
    // Set anew, or disabled, while this was on its way: whoever began it is nobody here any more.
    const current = await holdMember(trx, user);
    if (!current) return 'gone';
    const nowMs = now();
    if (!(await insertIdentity(trx, user.id, identity, nowMs, { used: false }))) {
      const known = await findIdentity(trx, identity);
      if (known?.userId !== user.id) return 'linked-elsewhere';
      await noteIdentityUse(trx, known.id, identity, nowMs);
      return 'known';
    }
    await settleSecondFactor(trx, providers, user.id, nowMs);
    const account = accountThere(provider.name, identity.email);
    await tellOfChange(trx, deps, { user: current, change: 'provider-linked', from: originOf(req), detail: account });
    return 'linked';
  });
}

/** Of two at once the later finds what the first has made. */
async function makeAtOnce(...given: Parameters<typeof make>): Promise<Made> {
  try {
    return await make(...given);
  } catch (error) {
    if (!isSameIdentity(error)) throw error;
    return make(...given);
  }
}

/**
 * The end of a link that was begun in the settings: in the same session of the same member, who showed lately who they are
 * when they began it (`security.md`, rule 15).
 * @throws {FederationRefusal} foreign, linked-elsewhere
 */
export async function link(
  deps: FederationDeps,
  req: Request,
  res: Response,
  { provider, identity, intent }: Answered & { intent: Attempt['intent'] & { kind: 'link' } },
): Promise<void> {
  const member = await deps.sessions.member(req);
  const same = member?.user.id === intent.userId && currentSession(req)?.idHash === intent.sessionIdHash;
  if (!member || !same) throw new FederationRefusal('foreign', 'the session that asked has ended');
  const made = await makeAtOnce(deps, req, { user: member.user, provider, identity });
  if (made === 'gone') throw new FederationRefusal('foreign', 'the member has changed meanwhile');
  if (made === 'linked-elsewhere') throw new FederationRefusal(made, 'the identity is another member’s');
  deps.outbox.wake();
  deps.log.info({ act: 'federation-link', provider: provider.id, outcome: made }, 'an account elsewhere was linked');
  res.redirect(303, `/settings/providers?${new URLSearchParams({ notice: 'linked' })}`);
}
