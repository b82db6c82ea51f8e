import type { Request } from 'express';
import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { currentSession } from '../session/index.ts';
import { isMemberScope } from './scopes.ts';
import type { SessionGrants } from './session-grants.ts';

/** The scopes that the request asks for, the client is registered for, and a member can give: never more than these. */
export function grantable(requested: Iterable<string>, registered: string | undefined): string[] {
  const allowed = new Set((registered ?? '').split(' '));
  return [...requested].filter((scope) => isMemberScope(scope) && allowed.has(scope));
}

/** The same of a resource server that the client may ask for: what is requested and registered there, nothing else. */
export function grantableAt(requested: Iterable<string>, registered: ReadonlySet<string>): string[] {
  return [...new Set(requested)].filter((scope) => registered.has(scope));
}

/** Why the member is asked: somebody other than the marketplace runs the client, or could pose as it. Undefined: they are not. */
export function reasonToAsk(client: {
  first_party?: unknown;
  applicationType?: string | undefined;
}): 'third-party' | 'native' | undefined {
  if (client.first_party !== true) return 'third-party';
  return client.applicationType === 'native' ? 'native' : undefined;
}

/**
 * What the library asks for at every authorization request: the grant of this Foyer session for the client. The
 * marketplace's own web apps get it by themselves, others by the member's answer on the consent page. Without a matching
 * session there is none: the login check asks.
 */
export function createLoadGrant(grants: SessionGrants) {
  return async function loadExistingGrant(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
    // Of resources the library has asked for each whether this client may have it.
    const { client, account, params, result, resourceServers } = ctx.oidc;
    const session = currentSession(ctx.req as Request);
    if (!client || !account || session?.userId !== account.accountId) return undefined;
    // Each device has one of its own: a device code that is used twice ends what that device has, and nothing else.
    const grant = ctx.oidc.entities.DeviceCode ? undefined : await grants.find(session, client.clientId);
    const asked = reasonToAsk(client) !== undefined && result?.consent === undefined;
    if (asked && !grant) return undefined;
    const requested = asked ? [] : String(params?.scope ?? '').split(' ');
    const resources = new Map(
      Object.entries(resourceServers ?? {}).map(([identifier, { scopes }]) => [
        identifier,
        grantableAt(requested, scopes),
      ]),
    );
    if (client.backchannelLogoutUri !== undefined) {
      const sid = await grants.sidOf(session, client.clientId);
      if (sid === undefined) return undefined;
      // Before the library makes up one that nobody but its own session knows.
      ctx.oidc.session?.sidFor(client.clientId, sid);
    }
    return grants.widen(session, client.clientId, grant, { scopes: grantable(requested, client.scope), resources });
  };
}
