import type { Client, Grant, KoaContextWithOIDC } from 'oidc-provider';
import type { Outbox } from '../messages/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import { toClientId, type UserId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { type Consent, covers, findConsent, recordConsent } from './connected-app-store.ts';
import { toExpressRequest } from './routes-table.ts';
import { isMemberScope } from './scopes.ts';
import type { SessionGrants, SessionOwner } from './session-grants.ts';

interface LoadGrantDeps {
  outbox: Pick<Outbox, 'record'>;
  database: Database;
  sessionGrants: SessionGrants;
  now: () => number;
}

/** The scopes that the request names, the client is registered for, and a user can give: never more. */
export function grantableScopes(requested: Iterable<string>, registered: string | undefined): string[] {
  const allowed = new Set((registered ?? '').split(' '));
  return [...requested].filter((scope) => isMemberScope(scope) && allowed.has(scope));
}

/** The same for a resource server that the client may request: scopes that are both requested and registered there. */
export function grantableAudiences(requested: Iterable<string>, registered: ReadonlySet<string>): string[] {
  return [...new Set(requested)].filter((scope) => registered.has(scope));
}

/**
 * The reason for the consent page: the marketplace does not run the client, or another party could impersonate it.
 * Undefined: no page.
 */
export function consentReason(client: {
  first_party?: unknown;
  applicationType?: string | undefined;
}): 'third-party' | 'native' | undefined {
  if (client.first_party !== true) return 'third-party';
  return client.applicationType === 'native' ? 'native' : undefined;
}

/** The scopes of a request that its client app may have. */
function requestedConsent(ctx: KoaContextWithOIDC): Consent {
  const { client, params, resourceServers } = ctx.oidc;
  const requested = String(params?.scope ?? '').split(' ');
  const atServers = Object.entries(resourceServers ?? {}).map(
    ([identifier, { scopes }]) => [identifier, grantableAudiences(requested, scopes)] as const,
  );
  return { scopes: grantableScopes(requested, client?.scope), resources: new Map(atServers) };
}

/** Tests whether the user has just answered the consent page. */
const hasConsented = ({ oidc }: KoaContextWithOIDC, client: Client): boolean =>
  consentReason(client) !== undefined && oidc.result?.consent !== undefined;

const nothing: Consent = { scopes: [], resources: new Map() };

/**
 * The library calls this at every authorization request: the grant of this Foyer session for the client. The
 * marketplace's own web apps get it without a question. Others get what the user has consented to: now, or earlier if
 * that consent covers the request. A wider request asks for the whole. Native apps and devices ask every time. Without
 * a matching session there is none: the login check asks.
 * Offline access (OpenID Connect Core 1.0, section 11) and devices have grants that outlive the session.
 */
export function createLoadGrant({ database, outbox, sessionGrants: grants, now }: LoadGrantDeps) {
  /** The part of the request that can be granted without a question; undefined: the user must be asked. */
  async function permitted(ctx: KoaContextWithOIDC, userId: UserId, requested: Consent): Promise<Consent | undefined> {
    const { client, result, entities } = ctx.oidc;
    const reason = client && consentReason(client);
    if (!client || reason === undefined || result?.consent !== undefined) return requested;
    if (reason === 'native' || entities.DeviceCode) return undefined;
    const consent = await findConsent(database.db, userId, toClientId(client.clientId));
    return consent && covers(consent, requested) ? requested : undefined;
  }

  /** Before the library generates a `sid` that only its own session knows. @returns false if the session has ended */
  async function setSid({ oidc }: KoaContextWithOIDC, session: SessionOwner, client: Client): Promise<boolean> {
    if (client.backchannelLogoutUri === undefined) return true;
    const clientId = toClientId(client.clientId);
    const sid = await grants.sidFor(session, clientId);
    if (sid === undefined) return false;
    oidc.session?.sidFor(clientId, sid);
    return true;
  }

  return async function loadExistingGrant(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
    // For each resource the library has already checked that this client may have it.
    const { client, account } = ctx.oidc;
    const session = getCurrentSession(toExpressRequest(ctx.req));
    if (!client || !account || session?.userId !== account.accountId) return undefined;
    const clientId = toClientId(client.clientId);
    const requested = requestedConsent(ctx);
    const onDevice = ctx.oidc.entities.DeviceCode !== undefined;
    const offline = onDevice || requested.scopes.includes('offline_access');
    // Each device has its own grant: a device code that is used twice ends only the access of that device.
    const grant = onDevice ? undefined : await grants.find(session, clientId, offline);
    const allowed = await permitted(ctx, session.userId, requested);
    if (allowed === undefined && !grant) return undefined;
    if (!(await setSid(ctx, session, client))) return undefined;
    const widened = await grants.widen(session, clientId, {
      known: grant,
      requested: { ...(allowed ?? nothing), offline },
    });
    const isConsent = hasConsented(ctx, client);
    if (widened && widened !== grant && (isConsent || offline)) {
      const connection = { userId: session.userId, clientId, nowMs: now(), grantId: widened.jti };
      await database.transaction(async (trx) => {
        await recordConsent(trx, connection, isConsent ? requested : nothing);
        const scopes = [...(isConsent ? requested.scopes : [])];
        const { userId: subject, nowMs: atMs } = connection;
        await outbox.record(trx, { type: 'app.connected', details: { scopes }, subject, clientId, atMs });
      });
    }
    return widened;
  };
}
