import { AsyncLocalStorage } from 'node:async_hooks';
import type Provider from 'oidc-provider';
import type { Grant } from 'oidc-provider';
import type { ClientSessionStore } from './client-session-store.ts';
import type { GrantOwner, GrantStore } from './grant-store.ts';

const owners = new AsyncLocalStorage<GrantOwner>();

/** To which session a grant belongs that is saved now. */
export function ownerOfNewGrant(): GrantOwner {
  return owners.getStore() ?? { foyerSession: null, offline: false };
}

/** Whose session, in which a client app is given something. */
export interface SessionOwner {
  idHash: string;
  userId: string;
}

/** What a grant is to hold. */
export interface RequestedGrant {
  /** Of Foyer itself. */
  scopes: readonly string[];
  /** Of resource servers, by their identifiers. */
  resources?: ReadonlyMap<string, readonly string[]>;
  /** It outlives the session: offline access, or a device. */
  offline?: boolean;
}

export interface SessionGrants {
  find(session: SessionOwner, clientId: string, offline?: boolean): Promise<Grant | undefined>;
  /** The grant that holds what `known` does and what is wanted; undefined when the session has ended meanwhile. */
  widen(
    session: SessionOwner,
    clientId: string,
    known: Grant | undefined,
    expected: RequestedGrant,
  ): Promise<Grant | undefined>;
  /**
   * What the session is called to a client app that is to hear of its end: asked for before anything is given, so that
   * nothing is given in a session whose end would go untold. Undefined when the session has ended meanwhile.
   */
  sidFor(session: SessionOwner, clientId: string): Promise<string | undefined>;
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
 * The grants of Foyer sessions: one per session and client app, reused, because a new one per authorize would end the
 * client's earlier tokens (`security.md`, rule 5). A grant is never written twice: one that must hold more, or last longer,
 * is a new one, so that nothing can bring back a revoked grant.
 */
export function createSessionGrants(
  provider: () => Provider,
  grants: GrantStore,
  clientSessions: ClientSessionStore,
  isLive: (session: string) => Promise<boolean>,
  /** Whether it outlives every refresh token that it may give from now on: sessions can last longer than any grant. */
  lastsLongEnough: (grant: Grant) => boolean,
): SessionGrants {
  return {
    async find({ idHash, userId }, clientId, offline = false) {
      const stored = await grants.findOfSession({ foyerSession: idHash, offline }, clientId);
      const { Grant } = provider();
      return stored && new Grant({ ...stored, accountId: userId, clientId });
    },
    async widen({ idHash, userId }, clientId, known, expected) {
      if (known && lastsLongEnough(known) && covers(known, expected)) return known;
      const { Grant } = provider();
      const next = new Grant({ accountId: userId, clientId });
      next.addOIDCScope([...new Set([...words(known?.getOIDCScope()), ...expected.scopes])].join(' '));
      for (const [resource, scope] of Object.entries(known?.resources ?? {})) next.addResourceScope(resource, scope);
      for (const [resource, scopes] of expected.resources ?? []) {
        if (scopes.length > 0) next.addResourceScope(resource, scopes.join(' '));
      }
      const owner = { foyerSession: idHash, offline: expected.offline ?? false };
      const id = await owners.run(owner, () => next.save());
      if (await isLive(idHash)) return next;
      // The member signed out while this ran, and the sign-out cannot have seen this grant.
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
