import type { Request, Response } from 'express';
import type { TermsVersion } from '../account/index.ts';
import type { FederationRoom } from '../federation/index.ts';
import type { Errand, HostCookies, HttpError, Logger, Pages } from '../http/index.ts';
import type { Legal } from '../legal/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { MfaRoom } from '../mfa/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { GuessLimits, PasswordHasher, PasswordRoom, QueueFull } from '../password/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import type { Devices, Sessions, SessionUser } from '../session/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import type { Entrance } from './entrance.ts';
import type { MailedCodes } from './mailed-code.ts';
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
  /** An address or number that the client app wants in the field of the form. It proves nothing. */
  loginHint?: string;
  /** The provider that the client app wants, as it wrote the name. */
  providerHint?: string;
}

/** A visit of the start page that names a client app, without a request that waits (the specification's short forms). */
export type ShortForm =
  /** It goes on as an authorization request. */
  | { kind: 'authorize'; href: string; clientName: string }
  /** The client app begins the request by itself. */
  | { kind: 'client-begins'; href: string; clientName: string }
  /** Only the client app is known: after the sign-in it begins its request, if it has an address for that. */
  | { kind: 'client'; href?: string; clientName: string };

/** What a waiting client app's requests are to this room: they are oauth/'s. */
export interface ClientRequests {
  /** Undefined: unknown, over, or another browser's. */
  pendingRequest(req: Request, id: string): Promise<WaitingRequest | undefined>;
  /** What is said of a request that is none of the above; with `instead` it begins again by itself. */
  requestOver(req: Request, errand: Errand): Promise<HttpError>;
  /** @throws {HttpError} when the address names a client app, or an address of it, that is not registered */
  shortForm(errand: Errand): Promise<ShortForm | undefined>;
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

export interface SignInDeps extends ClientRequests {
  publicUrl: string;
  pages: Pages;
  log: Logger;
  metrics: Metrics;
  database: Database;
  kv: KeyValueStore;
  cookies: HostCookies;
  passwords: PasswordHasher;
  /** For members who came from another service without a password. */
  firstPassword: Pick<PasswordRoom, 'beginFirstReset' | 'hintAtFirstReset'>;
  sessions: Sessions;
  devices: Devices;
  mfa: MfaRoom;
  entrance: Entrance;
  mailedCodes: MailedCodes;
  /** Providers by which members sign in. */
  federation: Pick<FederationRoom, 'providers' | 'begin' | 'signIn'>;
  /** Undefined where browsers have none. */
  passkeys: Passkeys | undefined;
  limits: GuessLimits & Pick<RateLimits, 'passkeySignIn'>;
  uniformAnswers: boolean;
  queueFull: QueueFull;
  terms: TermsVersion;
  legal: Legal;
  wayOn: WayOn;
  confirmations: Confirmations;
  now: () => number;
}
