import type { Request } from 'express';
import type { TermsVersion } from '../account/index.ts';
import type { Logger, Pages } from '../http/index.ts';
import type { Legal } from '../legal/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { GuessLimits, PasswordHasher } from '../password/index.ts';
import type { KnownDevices, Sessions, SessionUser } from '../session/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import type { WayOn } from './way-on.ts';

/** What this room needs to know of an authorization request that waits in this browser. */
export interface WaitingRequest {
  clientId: string;
  clientName: string;
  /** Whether this sign-in is fresh enough for what the client app asked. */
  satisfiedBy(session: SessionUser): boolean;
}

export interface SignInDeps {
  publicUrl: string;
  pages: Pages;
  log: Logger;
  metrics: Metrics;
  database: Database;
  kv: KeyValueStore;
  passwords: PasswordHasher;
  sessions: Sessions;
  devices: KnownDevices;
  limits: GuessLimits;
  uniformAnswers: boolean;
  /** What is answered while too many passwords are being checked already. */
  queueFull: { status: number; retrySeconds: number };
  terms: TermsVersion;
  legal: Legal;
  wayOn: WayOn;
  now: () => number;
  /** Injected by `app.ts`: the requests themselves are oauth/'s. Undefined: unknown, expired, or another browser's. */
  pendingRequest(req: Request, id: string): Promise<WaitingRequest | undefined>;
}
