import type { Request, Response } from 'express';
import type Provider from 'oidc-provider';
import type { HostCookies, Logger, Pages } from '../http/index.ts';
import type { Catalogue } from '../membership/index.ts';
import type { Sessions, UpstreamSession } from '../sessions/index.ts';
import type { NextRedirect } from '../sign-in/index.ts';
import type { Database } from '../store/index.ts';
import type { CanAccessClient } from './access-rule.ts';
import type { AuthorizationRequests } from './authorization-requests.ts';
import type { OidcSessions } from './provider-session.ts';

/** What of the providers by which members sign in concerns signing out. */
export interface UpstreamLogout {
  /** Where a browser goes that has just been signed out here, out of a session that a provider began. */
  upstreamLogoutUrl(
    upstream: UpstreamSession,
    returnTo: string | undefined,
  ): Promise<{ address: string; providerName?: string | undefined }>;
  /** What the provider is called, and whether signing out here signs out there, too. */
  endsAtProvider(upstream: UpstreamSession): { name: string; ends: boolean } | undefined;
}

/** What the handlers of this room share. */
export interface OauthDeps {
  publicUrl: string;
  database: Database;
  pages: Pages;
  log: Logger;
  cookies: HostCookies;
  sessions: Sessions;
  providersOut: UpstreamLogout;
  nextRedirect: NextRedirect;
  canAccessClient: CanAccessClient;
  catalogue: Catalogue;
  plansAreSold: boolean;
  /** The provider of this moment: it is replaced when the signing keys change. */
  provider: () => Provider;
  requests: AuthorizationRequests;
  providerSessions: OidcSessions;
  /** Answers an error where Express does not catch it. */
  fail(req: Request, res: Response, error: unknown): void;
}

export type Handler = (req: Request, res: Response) => Promise<void> | void;
