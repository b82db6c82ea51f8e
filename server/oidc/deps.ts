import type { Request, Response } from 'express';
import type Provider from 'oidc-provider';
import type { Catalogue } from '../billing/index.ts';
import type { NextPage, RequestServices } from '../http/index.ts';
import type { Sessions, UpstreamSession } from '../sessions/index.ts';
import type { ClientId } from '../shared/index.ts';
import type { NextRedirect } from '../sign-in/index.ts';
import type { Database } from '../store/index.ts';
import type { TermsVersion } from '../users/index.ts';
import type { CanAccessClient } from './access-rule.ts';
import type { AuthorizationRequests } from './authorization-requests.ts';
import type { OidcSessions } from './provider-session.ts';

/** The functions of identity providers that logout needs. */
export interface UpstreamLogout {
  /** The provider's logout address for a browser that has just been signed out here from a federated session. */
  upstreamLogoutUrl(
    upstream: UpstreamSession,
    returnTo: string | undefined,
  ): Promise<{ next: NextPage; providerName?: string | undefined }>;
  /** The name of the provider, and whether a logout here also ends the session there. */
  endsAtProvider(upstream: UpstreamSession): { name: string; ends: boolean } | undefined;
}

/** Shared dependencies of the handlers. */
export interface OidcDeps extends RequestServices {
  database: Database;
  /** The client of this site itself. */
  defaultClientId: ClientId;
  sessions: Sessions;
  providersOut: UpstreamLogout;
  terms: TermsVersion;
  nextRedirect: NextRedirect;
  canAccessClient: CanAccessClient;
  catalogue: Catalogue;
  plansAreSold: boolean;
  /** The current provider: it is replaced when the signing keys change. */
  provider: () => Provider;
  requests: AuthorizationRequests;
  providerSessions: OidcSessions;
  /** Gives a request that bypasses Express the properties of Express's, which pages read. */
  toExpress(req: Request, res: Response): void;
  /** Answers an error that Express does not catch. */
  fail(req: Request, res: Response, error: unknown): void;
}
