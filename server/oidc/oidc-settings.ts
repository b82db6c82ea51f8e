import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Router } from 'express';
import type { ConnectedApps } from '../account/index.ts';
import type { Catalogue } from '../billing/index.ts';
import type {
  ApiOperation,
  DirectCalls,
  Guard,
  HostCookies,
  IsScriptOrigin,
  RequestServices,
  VisitorGate,
} from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { SessionHooks, Sessions } from '../sessions/index.ts';
import type { ClientId, Metrics } from '../shared/index.ts';
import type { ClientAuthorizations, NextRedirect } from '../sign-in/index.ts';
import type { Database, KeyValueStore, SecretBox } from '../store/index.ts';
import type { GetMembershipClaims, ProfileField, TermsVersion, WithPicture } from '../users/index.ts';
import type { OidcDeps, UpstreamLogout } from './deps.ts';
import type { UserCodeLimits } from './device-guesses.ts';
import type { GrantStore } from './grant-store.ts';
import type { RefusalListeners } from './refusals.ts';

export interface OidcSettings extends RequestServices {
  development: boolean;
  /** The policy on personal data, for the metadata. */
  privacyUrl: string | undefined;
  /** The operator's page for developers of client apps, for the metadata. */
  developersUrl: string | undefined;
  rememberMs: number;
  idleMs: number;
  keysRefreshMs: number;
  cookieKeys: string[];
  proofNonceSecret: Buffer;
  userCodeSecret: Buffer;
  limits: UserCodeLimits;
  database: Database;
  kv: KeyValueStore;
  visitorGate: VisitorGate;
  oidcBox: SecretBox;
  keysBox: SecretBox;
  /** It notifies client apps of ended sessions. */
  outbox: Outbox;
  /** Cookies that sibling apps can read: the domain's, or this host's own. */
  sharedCookies: HostCookies;
  /** The client that owns the token cookies. */
  defaultClientId: ClientId;
  metrics: Metrics;
  now: () => number;
  fail: OidcDeps['fail'];
  toExpress: OidcDeps['toExpress'];
  terms: TermsVersion;
  nextRedirect: NextRedirect;
  /** The claims of the scope `membership`. */
  membershipClaims: GetMembershipClaims;
  /** Undefined: there are no pictures besides those of identity providers. */
  withPicture: WithPicture | undefined;
  /** Fields of the profile that are not switched on. */
  withheldFields: ReadonlySet<ProfileField>;
  /** For the page that lists the plans of a client app. */
  catalogue: Catalogue;
  plansAreSold: boolean;
  sessions: Sessions;
  providersOut: UpstreamLogout;
  onRefusal: RefusalListeners['onRefusal'];
}

/** The functions that follow a Foyer session; `wiring.ts` lists them. */
export interface OidcSubscribers {
  moveGrants: SessionHooks['onSessionReplaced'];
  replaceProviderSession: SessionHooks['onSessionStarted'];
  mintTokenCookies: SessionHooks['onSessionStarted'];
  revokeGrantsOfSessions: SessionHooks['onSessionsEnded'];
  revokeGrantsOfUser: SessionHooks['onAllSessionsEnded'];
  revokeOfflineAccess: SessionHooks['onOtherSessionsEnded'];
  clearTokenCookies: SessionHooks['afterSignOut'];
  endProviderSession: SessionHooks['afterSignOut'];
}

/** Includes the functions of client apps' requests for sign-in and sign-up. */
export interface OidcModule extends ClientAuthorizations {
  /** The provider's session, the grants and the token cookies follow the session of a browser. */
  subscribers: OidcSubscribers;
  grants: GrantStore;
  connectedApps: ConnectedApps;
  /** The provider's routes, before body parsers and cross-site guard. */
  providerRoutes(session: RequestHandler): Router;
  /** Those of them that bypass Express. */
  directCalls(session: RequestHandler, getAddress: (req: IncomingMessage) => string): DirectCalls;
  /** Precedes each page: renews the token cookies of a signed-in user. */
  tokenCookies: RequestHandler;
  pageRoutes(router: Router): void;
  /** The JSON calls of this module. */
  operations: readonly ApiOperation[];
  /** The guard of all JSON routes of every module; `session` loads the session of a request without a token. */
  apiGuard(session: RequestHandler): Guard;
  /** Tests whether an origin is registered by a public client, for preflight requests to JSON routes. */
  isScriptOrigin: IsScriptOrigin;
  /** Checks at once whether the signing keys have changed. */
  refreshKeys(): Promise<void>;
  /** Deletes expired data, and the grants of sessions that are gone: one process does it every ten minutes. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}
