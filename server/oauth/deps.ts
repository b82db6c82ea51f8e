import type { Request, Response } from 'express';
import type Provider from 'oidc-provider';
import type { HostCookies, Logger, Pages } from '../http/index.ts';
import type { Sessions } from '../session/index.ts';
import type { WayOn } from '../sign-in/index.ts';
import type { Database } from '../store/index.ts';
import type { AuthorizationRequests } from './authorization-requests.ts';
import type { ProviderSessions } from './provider-session.ts';

/** What the handlers of this room share. */
export interface OauthDeps {
  publicUrl: string;
  database: Database;
  pages: Pages;
  log: Logger;
  cookies: HostCookies;
  sessions: Sessions;
  wayOn: WayOn;
  /** The provider of this moment: it is replaced when the signing keys change. */
  provider: () => Provider;
  requests: AuthorizationRequests;
  providerSessions: ProviderSessions;
  /** Answers an error where Express does not catch it. */
  fail(req: Request, res: Response, error: unknown): void;
}

export type Handler = (req: Request, res: Response) => Promise<void> | void;
