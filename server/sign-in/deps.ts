import type { Request, Response } from 'express';
import type { FederationModule } from '../federation/index.ts';
import type { Continuation, HostCookies, HttpError, Logger, Pages } from '../http/index.ts';
import type { Legal } from '../legal/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { MfaRoom } from '../mfa/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { GuessLimits, PasswordHasher, PasswordModule, QueueFullAnswer } from '../password/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import type { DeviceRecognition, Sessions, SessionUser } from '../sessions/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import type { TermsVersion } from '../users/index.ts';
import type { SignIn } from './complete-sign-in.ts';
import type { MailedCodes } from './mailed-code.ts';
import type { NextRedirect } from './next-redirect.ts';

/** What this room needs to know of an authorization request that waits in this browser. */
export interface PendingAuthorization {
  clientId: string;
  clientName: string;
  /** Whether this sign-in is fresh enough for what the client app asked. */
  satisfiedBy(session: SessionUser): boolean;
  /** It takes no sign-in from before it began. */
  requiresFreshAuthentication: boolean;
  /** The member who is signed in has only to show more than so far. */
  requiresStepUpOnly: boolean;
  /** It wants more than a password: that the device is remembered does not count. */
  requiresAllFactors: boolean;
  /** An address or number that the client app wants in the field of the form. It proves nothing. */
  loginHint?: string;
  /** The provider that the client app wants, as it wrote the name. */
  providerHint?: string;
}

/** A visit of the start page that names a client app, without a request that waits (the specification's short forms). */
export type AuthorizeShorthand =
  /** It goes on as an authorization request. */
  | { kind: 'authorize'; href: string; clientName: string }
  /** The client app begins the request by itself. */
  | { kind: 'client-begins'; href: string; clientName: string }
  /** Only the client app is known: after the sign-in it begins its request, if it has an address for that. */
  | { kind: 'client'; href?: string; clientName: string };

/** What a waiting client app's requests are to this room: they are oauth/'s. */
export interface ClientAuthorizations {
  /** Undefined: unknown, over, or another browser's. */
  findPendingAuthorization(req: Request, id: string): Promise<PendingAuthorization | undefined>;
  /** What is said of a request that is none of the above; with `instead` it begins again by itself. */
  toExpiredError(req: Request, continuation: Continuation): Promise<HttpError>;
  /** @throws {HttpError} when the address names a client app, or an address of it, that is not registered */
  resolveShorthand(continuation: Continuation): Promise<AuthorizeShorthand | undefined>;
}

/** What confirms addresses, as far as this room needs it: sign-up/ is beside it, and `app.ts` hands it in. */
export interface EmailVerification {
  /** The account that was begun last with an address and is not confirmed. */
  findUnverifiedAccount(email: string): Promise<{ id: string; passwordHash: string } | undefined>;
  /** Somebody has shown the right password of an account that is not confirmed: a code is mailed. Answers where to go. */
  startEmailVerification(
    req: Request,
    res: Response,
    recipient: { kind: 'sign-up' | 'user'; id: string; remember: boolean; continuation: Continuation },
  ): Promise<string>;
}

export interface SignInDeps extends ClientAuthorizations {
  publicUrl: string;
  pages: Pages;
  log: Logger;
  metrics: Metrics;
  database: Database;
  kv: KeyValueStore;
  cookies: HostCookies;
  passwords: PasswordHasher;
  /** For members who came from another service without a password. */
  firstPassword: Pick<PasswordModule, 'beginFirstReset' | 'hintAtFirstReset'>;
  sessions: Sessions;
  devices: DeviceRecognition;
  mfa: MfaRoom;
  signIn: SignIn;
  mailedCodes: MailedCodes;
  /** Providers by which members sign in. */
  federation: Pick<FederationModule, 'providers' | 'begin' | 'signIn'>;
  /** Undefined where browsers have none. */
  passkeys: Passkeys | undefined;
  limits: GuessLimits & Pick<RateLimits, 'passkeySignIn'>;
  uniformAnswers: boolean;
  queueFull: QueueFullAnswer;
  terms: TermsVersion;
  legal: Legal;
  nextRedirect: NextRedirect;
  confirmations: EmailVerification;
  now: () => number;
}
