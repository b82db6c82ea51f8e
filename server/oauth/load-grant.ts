import type { Request } from 'express';
import type Provider from 'oidc-provider';
import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { currentSession } from '../session/index.ts';
import type { GrantStore } from './grant-store.ts';
import { isMemberScope } from './scopes.ts';

/** The scopes that the request asks for, the client is registered for, and a member can give: never more than these. */
export function grantable(requested: Iterable<string>, registered: string | undefined): string[] {
  const allowed = new Set((registered ?? '').split(' '));
  return [...requested].filter((scope) => isMemberScope(scope) && allowed.has(scope));
}

/** Whether somebody other than the marketplace runs the client, or could pose as it: then the member is asked. */
export function needsConsent(client: { first_party?: unknown; applicationType?: string | undefined }): boolean {
  return client.first_party !== true || client.applicationType === 'native';
}

/**
 * The grant of this Foyer session for the client: one per session and client, reused, because a new one per authorize
 * would end the client's earlier tokens (`security.md`, rule 5). The marketplace's own web apps get it by themselves,
 * others by the member's answer on the consent page. Without a matching session there is none: the login check asks.
 *
 * A grant is never written twice: one that must hold more, or last longer, is a new one, so that nothing can bring back a
 * revoked grant.
 */
export function createLoadGrant(
  provider: () => Provider,
  grants: GrantStore,
  isLive: (session: string) => Promise<boolean>,
  /** Whether it outlives every refresh token that it may give from now on: sessions can last longer than any grant. */
  lastsLongEnough: (grant: Grant) => boolean,
) {
  return async function loadExistingGrant(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
    const { client, account, params, result } = ctx.oidc;
    const session = currentSession(ctx.req as Request);
    if (!client || !account || session?.userId !== account.accountId) return undefined;
    const { Grant } = provider();
    const owner = { accountId: account.accountId, clientId: client.clientId };
    const stored = await grants.findOfSession(session.idHash, client.clientId);
    const grant = stored && new Grant({ ...stored, ...owner });
    const asked = needsConsent(client) && result?.consent === undefined;
    if (asked && !grant) return undefined;
    const requested = asked ? [] : grantable(String(params?.scope ?? '').split(' '), client.scope);
    const known = grant?.getOIDCScope().split(' ') ?? [];
    if (grant && lastsLongEnough(grant) && requested.every((scope) => known.includes(scope))) return grant;
    const next = new Grant(owner);
    next.addOIDCScope([...new Set([...known, ...requested])].join(' '));
    const id = await next.save();
    if (await isLive(session.idHash)) return next;
    // The member signed out while this ran, and the sign-out cannot have seen this grant.
    await grants.revoke(id);
    return undefined;
  };
}
