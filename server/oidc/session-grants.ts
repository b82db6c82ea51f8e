import { AsyncLocalStorage } from 'node:async_hooks';
import type Provider from 'oidc-provider';
import type { Grant } from 'oidc-provider';
import type { ClientId, SessionIdHash, UserId } from '../shared/index.ts';
import type { ClientSessionStore } from './client-session-store.ts';
import type { GrantOwner } from './grant-records-store.ts';
import type { GrantStore } from './grant-store.ts';

const owners = new AsyncLocalStorage<GrantOwner>();

/** The session of the grant that is being saved. */
export function ownerOfNewGrant(): GrantOwner {
  return owners.getStore() ?? { foyerSession: null, offline: false };
}

/** The session in which a client app gets access. */
export interface SessionOwner {
  idHash: SessionIdHash;
  userId: UserId;
}

/** The content of a requested grant. */
interface RequestedGrant {
  /** Scopes of Foyer itself. */
  scopes: readonly string[];
  /** Scopes of resource servers, by their identifiers. */
  resources?: ReadonlyMap<string, readonly string[]>;
  /** It outlives the session: offline access, or a device. */
  offline?: boolean;
}

export interface SessionGrants {
  find(session: SessionOwner, clientId: ClientId, offline?: boolean): Promise<Grant | undefined>;
  /** The grant with the union of `known` and the requested access; undefined if the session has ended meanwhile. */
  widen(
    session: SessionOwner,
    clientId: ClientId,
    access: { known: Grant | undefined; requested: RequestedGrant },
  ): Promise<Grant | undefined>;
  /**
   * The `sid` for a client app with back-channel logout. It is requested before anything is issued, so that no access
   * is given in a session whose end could not be notified. Undefined if the session has ended meanwhile.
   */
  sidFor(session: SessionOwner, clientId: ClientId): Promise<string | undefined>;
}

interface SessionGrantsSettings {
  provider: () => Provider;
  grants: GrantStore;
  clientSessions: ClientSessionStore;
  isLive: (session: SessionIdHash) => Promise<boolean>;
  /**
   * Tests whether a grant outlives every refresh token that it may issue from now on: sessions can last longer than any
   * grant.
   */
  lastsLongEnough: (grant: Grant) => boolean;
}

const words = (scope = '') => scope.split(' ').filter(Boolean);

function covers(grant: Grant, { scopes, resources = new Map() }: RequestedGrant): boolean {
  const all = (expected: readonly string[], held: string[]) => expected.every((scope) => held.includes(scope));
  return (
    all(scopes, words(grant.getOIDCScope())) &&
    [...resources].every(([resource, expected]) => all(expected, words(grant.getResourceScope(resource))))
  );
}

/**
 * The grants of Foyer sessions: one per session and client app, reused, because a new one per authorization would end
 * the client's earlier tokens (`security.md`, rule 5). A grant is never updated: a wider or longer one is a new one, so
 * that no write can restore a revoked grant.
 */
export function createSessionGrants({
  provider,
  grants,
  clientSessions,
  isLive,
  lastsLongEnough,
}: SessionGrantsSettings): SessionGrants {
  return {
    async find({ idHash, userId }, clientId, offline = false) {
      const stored = await grants.findOfSession({ foyerSession: idHash, offline }, clientId);
      const { Grant } = provider();
      return stored && new Grant({ ...stored, accountId: userId, clientId });
    },
    async widen({ idHash, userId }, clientId, { known, requested }) {
      if (known && lastsLongEnough(known) && covers(known, requested)) return known;
      const { Grant } = provider();
      const next = new Grant({ accountId: userId, clientId });
      next.addOIDCScope([...new Set([...words(known?.getOIDCScope()), ...requested.scopes])].join(' '));
      for (const [resource, scope] of Object.entries(known?.resources ?? {})) next.addResourceScope(resource, scope);
      for (const [resource, scopes] of requested.resources ?? []) {
        if (scopes.length > 0) next.addResourceScope(resource, scopes.join(' '));
      }
      const owner = { foyerSession: idHash, offline: requested.offline ?? false };
      const id = await owners.run(owner, () => next.save());
      if (await isLive(idHash)) return next;
      // The user signed out meanwhile, and the sign-out cannot have seen this grant.
      await grants.revoke(id);
      return undefined;
    },
    async sidFor(session, clientId) {
      const { sid, isNew } = await clientSessions.findSid(session, clientId);
      if (!isNew || (await isLive(session.idHash))) return sid;
      // Likewise.
      await clientSessions.remove(sid);
      return undefined;
    },
  };
}
