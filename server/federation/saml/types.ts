import type { Request } from 'express';
import type { UpstreamSession } from '../../sessions/index.ts';
import type { FederationAttempt } from '../attempts.ts';
import type { UpstreamIdentity } from '../identity.ts';

export interface SamlResult {
  identity: UpstreamIdentity;
  /** Of the assertion; where nobody asked for it, it is taken once. */
  assertionId: string;
  /** Until then it could be taken again. Milliseconds since the epoch. */
  untilMs: number;
}

/** What the provider's LogoutRequest or LogoutResponse says; both are signed. */
export type LogoutMessage =
  | {
      kind: 'request';
      id: string;
      nameId: string;
      /** Empty: every session of the person. */
      sessionIndexes: string[];
      /** Until then it could be sent again. */
      untilMs: number;
      /** @returns where the browser goes with our answer */
      answer(): Promise<string>;
    }
  | { kind: 'response'; inResponseTo: string; success: boolean };

/** SAML's single logout with one provider (SAML 2.0 Profiles, section 4.4). */
export interface SamlLogout {
  /** @returns where the browser goes to sign out there, too */
  ask(session: NonNullable<UpstreamSession['saml']>, relayState: string): Promise<{ url: string; requestId: string }>;
  /** @throws {FederationRefusal} invalid */
  read(req: Request): Promise<LogoutMessage>;
}

/** What only SAML providers have. */
export interface SamlProviderOps {
  /** @throws {FederationRefusal} */
  receive(req: Request, attempt: FederationAttempt | undefined): Promise<SamlResult>;
  /** Ours, for the provider. */
  metadata(): string;
  /** Undefined: not configured. */
  logout?: SamlLogout | undefined;
}
