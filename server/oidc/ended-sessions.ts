import type { ClientId, SessionIdHash, Sha256 } from '../shared/index.ts';
import type { GrantStore } from './grant-store.ts';

interface EndedSessionsDeps {
  grants: Pick<GrantStore, 'sessionsOfClient' | 'revokeOfClientSessions'>;
  /** The client that owns the token cookies. */
  clientId: ClientId;
  isLive: (idHash: SessionIdHash) => Promise<boolean>;
}

const batch = 500;
/** Sessions that are checked in parallel. */
const width = 50;
/** Batches in one run; the next run continues where this one stopped. */
const maxBatches = 20;

/**
 * Token cookies are useless without their session, but the expiry of a session triggers nothing. This ends the grants
 * of the default client whose session is gone, with their refresh tokens. Other client apps keep theirs.
 */
export function sweepsEndedSessions({ grants, clientId, isLive }: EndedSessionsDeps): () => Promise<void> {
  let after: Sha256 | undefined;
  return async () => {
    for (let turn = 0; turn < maxBatches; turn += 1) {
      const found = await grants.sessionsOfClient(clientId, after, batch);
      const sessions = [...new Set(found.map(({ foyerSession }) => foyerSession))].filter((one) => one !== null);
      for (let from = 0; from < sessions.length; from += width) {
        const some = sessions.slice(from, from + width);
        const live = await Promise.all(some.map(isLive));
        await grants.revokeOfClientSessions(
          clientId,
          some.filter((_, index) => !live[index]),
        );
      }
      after = found.length === batch ? found.at(-1)?.idHash : undefined;
      if (after === undefined) return;
    }
  };
}
