import type { Request } from 'express';
import type { UpstreamSession } from '../../sessions/index.ts';
import type { FederationAttempt } from '../attempts.ts';
import type { UpstreamIdentity } from '../identity.ts';

export interface SamlResult {
  identity: UpstreamIdentity;
  /** Id of the assertion; an unsolicited one is accepted once. */
  assertionId: string;
  /** Until when it could be replayed. Milliseconds since the epoch. */
  untilMs: number;
}

/** The content of the provider's LogoutRequest or LogoutResponse; both are signed. */
export type LogoutMessage =
  | {
      kind: 'request';
      id: string;
      nameId: string;
      /** Empty: every session of the user. */
      sessionIndexes: string[];
      /** Until when it could be replayed. */
      untilMs: number;
      /** @returns the address of Foyer's response */
      answer(): Promise<string>;
    }
  | { kind: 'response'; inResponseTo: string; success: boolean };

/** SAML's single logout with one provider (SAML 2.0 Profiles, section 4.4). */
export interface SamlLogout {
  /** @returns the provider's logout address */
  ask(session: NonNullable<UpstreamSession['saml']>, relayState: string): Promise<{ url: string; requestId: string }>;
  /** @throws {FederationError} invalid */
  read(req: Request): Promise<LogoutMessage>;
}

/** A form of a page that the browser posts to the provider. */
export interface PostForm {
  action: string;
  fields: Record<string, string>;
}

/** The additional functions of SAML providers. */
export interface SamlProviderOps {
  /** @throws {FederationError} */
  receive(req: Request, attempt: FederationAttempt | undefined): Promise<SamlResult>;
  /** Looks once a day whether the provider has replaced its certificates; undefined: not configured. */
  renewDaily?: (() => Promise<void>) | undefined;
  /** The request of an attempt as a form; undefined: requests are redirects. */
  requestForm?: ((attempt: FederationAttempt) => Promise<PostForm>) | undefined;
  /** Foyer's metadata for the provider. */
  metadata(): Promise<string>;
  /** Undefined: not configured. */
  logout?: SamlLogout | undefined;
}
