import type { Request, Response } from 'express';
import type { TermsVersion } from '../account/index.ts';
import type { FederationRoom } from '../federation/index.ts';
import type { Errand, Logger, Pages } from '../http/index.ts';
import type { Legal } from '../legal/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { MfaRoom } from '../mfa/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { GuessLimits, PasswordHasher, QueueFull } from '../password/index.ts';
import type { Devices, Sessions, SessionUser } from '../session/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import type { Entrance } from './entrance.ts';
import type { WayOn } from './way-on.ts';

/** What this room needs to know of an authorization request that waits in this browser. */
export interface WaitingRequest {
  clientId: string;
  clientName: string;
  /** Whether this sign-in is fresh enough for what the client app asked. */
  satisfiedBy(session: SessionUser): boolean;
  /** It takes no sign-in from before it began. */
  wantsAnew: boolean;
  /** The member who is signed in has only to show more than so far. */
  asksForAcrAlone: boolean;
  /** It wants more than a password: that the device is remembered does not count. */
  wantsEveryFactor: boolean;
}

/** What confirms addresses, as far as this room needs it: sign-up/ is beside it, and `app.ts` hands it in. */
export interface Confirmations {
  /** The account that was begun last with an address and is not confirmed. */
  begunWith(email: string): Promise<{ id: string; passwordHash: string } | undefined>;
  /** Somebody has shown the right password of an account that is not confirmed: a code is mailed. Answers where to go. */
  begin(
    req: Request,
    res: Response,
    whom: { kind: 'sign-up' | 'user'; id: string; remember: boolean; errand: Errand },
  ): Promise<string>;
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
  devices: Devices;
  mfa: MfaRoom;
  entrance: Entrance;
  /** Providers by which members sign in. */
  federation: Pick<FederationRoom, 'providers' | 'begin' | 'signIn'>;
  /** Undefined where browsers have none. */
  passkeys: Passkeys | undefined;
  limits: GuessLimits;
  uniformAnswers: boolean;
  queueFull: QueueFull;
  terms: TermsVersion;
  legal: Legal;
  wayOn: WayOn;
  confirmations: Confirmations;
  now: () => number;
  /** Injected by `app.ts`: the requests themselves are oauth/'s. Undefined: unknown, expired, or another browser's. */
  pendingRequest(req: Request, id: string): Promise<WaitingRequest | undefined>;
}
