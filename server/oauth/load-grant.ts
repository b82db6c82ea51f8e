import type { Request } from 'express';
import type Provider from 'oidc-provider';
import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { currentSession } from '../session/index.ts';
import type { GrantStore } from './grant-store.ts';

/** The scopes that the request asks for and the client is registered for: never more than both. */
export function grantable(requested: Iterable<string>, registered: string | undefined): string[] {
  const allowed = new Set((registered ?? '').split(' '));
  return [...requested].filter((scope) => scope !== '' && allowed.has(scope));
}

/** Whether somebody other than the marketplace runs the client, or could pose as it: then the member is asked. */
export function needsConsent(client: { first_party?: unknown; applicationType?: string | undefined }): boolean {
  return client.first_party !== true || client.applicationType === 'native';
}

/**
 * The grant of this Foyer session for the client: one per session and client, reused, because a new one per authorize
 * would end the client's earlier tokens (`security.md`, rule 5). The marketplace's own web apps get it by themselves,
 * others by the member's answer on the consent page. Without a matching session there is none: the login check asks.
 */
export function createLoadGrant(provider: () => Provider, grants: GrantStore) {
  return async function loadExistingGrant(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
    const { client, account, params, result } = ctx.oidc;
    const session = currentSession(ctx.req as Request);
    if (!client || !account || session?.userId !== account.accountId) return undefined;
    const { Grant } = provider();
    const stored = await grants.findOfSession(session.idHash, client.clientId);
    const grant = stored && new Grant({ ...stored, accountId: account.accountId, clientId: client.clientId });
    const requested = grantable(String(params?.scope ?? '').split(' '), client.scope);
    const granted = needsConsent(client) ? result?.consent !== undefined : true;
    if (!granted) return grant;
    const known = new Set(grant?.getOIDCScope().split(' '));
    const missing = requested.filter((scope) => !known.has(scope));
    if (grant && missing.length === 0) return grant;
    const extended = grant ?? new Grant({ accountId: account.accountId, clientId: client.clientId });
    extended.addOIDCScope(missing.join(' '));
    await extended.save();
    return extended;
  };
}
