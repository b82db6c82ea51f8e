import type { Request } from 'express';
import type { AuditHooks } from '../audit/index.ts';
import type { FederationModule, Provider } from '../federation/index.ts';
import type {
  Continuation,
  HostCookies,
  HttpError,
  HttpExchange,
  Logger,
  Pages,
  RateLimits,
  RequestContext,
} from '../http/index.ts';
import type { MfaDeps } from '../mfa/index.ts';
import type { PasskeyDeps } from '../passkeys/index.ts';
import type { GuessLimits, PasswordDeps, PasswordHasher, QueueFullAnswer } from '../password/index.ts';
import type { DeviceRecognition, Sessions, SessionUser } from '../sessions/index.ts';
import type { ClientId, Metrics, NormalisedEmail } from '../shared/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import type { TermsVersion } from '../users/index.ts';
import type { SignIn } from './complete-sign-in.ts';
import type { Legal } from './legal-documents.ts';
import type { MailedCodes } from './mailed-code.ts';
import type { NextRedirect } from './next-redirect.ts';

/** The facts about a pending authorization request of this browser that the sign-in needs. */
export interface PendingAuthorization {
  clientId: ClientId;
  clientName: string;
  /** Tests whether this authentication is fresh enough for the request. */
  satisfiedBy(session: SessionUser): boolean;
  /** Requires authentication newer than the request (`prompt=login`, `max_age`). */
  requiresFreshAuthentication: boolean;
  /** The signed-in user only needs to present a further factor. */
  requiresStepUpOnly: boolean;
  /** The request demands more than a password: a remembered device does not count. */
  requiresAllFactors: boolean;
  /** The `login_hint` for the form field: an address or number. It proves nothing. */
  loginHint?: string;
  /** The client app's name of the desired provider. */
  providerHint?: string;
}

/** A visit of the start page that names a client app, without a pending request (the specification's short forms). */
export type AuthorizeShorthand =
  /** Continues as an authorization request. */
  | { kind: 'authorize'; href: string; clientName: string }
  /** The client app starts the request itself. */
  | { kind: 'initiate-login'; href: string; clientName: string }
  /** Only the client app is known: after the sign-in it starts its request, if it has an address for that. */
  | { kind: 'client'; href?: string; clientName: string };

/** The authorization requests of client apps; oidc/ implements this. */
export interface ClientAuthorizations {
  /** Undefined if it is unknown, expired, or another browser's. */
  findPendingAuthorization(req: Request, id: string): Promise<PendingAuthorization | undefined>;
  /** The error for any other request; with `redirectTo` the request starts again by itself. */
  toExpiredError(req: Request, continuation: Continuation): Promise<HttpError>;
  /**
   * @throws {HttpError} if the address names an unregistered client app, or one of its addresses that is not registered
   */
  resolveShorthand(continuation: Continuation): Promise<AuthorizeShorthand | undefined>;
}

/** The pending authorization request of the address; undefined if it names none, or none of this browser. */
export async function findPending(
  { req, continuation: { authorization } }: RequestContext,
  { findPendingAuthorization }: Pick<ClientAuthorizations, 'findPendingAuthorization'>,
): Promise<PendingAuthorization | undefined> {
  return authorization === undefined ? undefined : findPendingAuthorization(req, authorization);
}

/** The confirmation of addresses for this module. sign-up/ implements it, and `wiring.ts` injects it. */
export interface EmailVerification {
  /** The newest unconfirmed account with an address. */
  findUnverifiedAccount(email: NormalisedEmail): Promise<{ id: string; passwordHash: string } | undefined>;
  /** Mails a code after the right password of an unconfirmed account. Returns the address of the next page. */
  startEmailVerification(
    exchange: HttpExchange,
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
  /** For imported users without a password. */
  password: PasswordDeps;
  sessions: Sessions;
  devices: DeviceRecognition;
  mfa: MfaDeps;
  signIn: SignIn;
  hooks: Pick<AuditHooks, 'onSignInRefused'>;
  mailedCodes: MailedCodes;
  /** Providers with which users sign in. */
  federation: Pick<FederationModule, 'providers' | 'begin' | 'signIn' | 'findOffer'>;
  /** Undefined if passkeys are unavailable. */
  passkeys: PasskeyDeps | undefined;
  limits: GuessLimits & Pick<RateLimits, 'passkeySignIn'>;
  uniformAnswers: boolean;
  queueFull: QueueFullAnswer;
  terms: TermsVersion;
  legal: Legal;
  nextRedirect: NextRedirect;
  confirmations: EmailVerification;
  now: () => number;
}

/** The content of the sign-in form. The password is never part of it. */
export interface SignInPageState {
  values?: { username: string; remember: boolean };
  errors?: { username?: string; password?: string; form?: string | undefined };
  /** The password has just been reset. */
  isReset?: boolean;
  /** The result of an attempt at a provider. */
  providerNotice?: { kind: 'error' | 'info'; text: string } | undefined;
  /** A provider whose button would lead back to this page. */
  hiddenProvider?: Provider | undefined;
  status?: number;
}
