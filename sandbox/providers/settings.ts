import type { Express } from 'express';
import type { CryptoKey, JWK } from 'jose';
import type { StandardKind } from '../../config/standard-providers.ts';
import type { AccountChooser } from './account-chooser.ts';
import type { Client } from './authorize.ts';
import type { Signer } from './signer.ts';

/** The key of id tokens (RS256). */
export interface TokenKeys {
  kid: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
  /** A key of another provider. */
  otherKey(): Promise<CryptoKey>;
}

/** The settings of every stand-in. */
export interface StandInSettings {
  /** The address for browsers and Foyer, for example http://127.0.0.1:3001. */
  origin: string;
  clients: Record<StandardKind | 'oidc', Client>;
  accountChooser: AccountChooser;
  /** Milliseconds since the epoch. */
  now(): number;
  keys: TokenKeys;
  /** The SAML identity provider's; it signs the responses. */
  samlSigner: Signer;
  /** A signer of another provider. */
  otherSigner(): Signer;
  /** Foyer's as a SAML service provider (PEM): verifies its signatures, and encrypts for it. */
  serviceProviderCertificate: string;
  /** Foyer's address, for flows that start at the identity provider. */
  foyerUrl(): string | undefined;
}

/** The stand-in of a standard provider. */
export interface StandIn {
  /** All of its paths: only this machine may request them, and tests see the requests. */
  paths: readonly string[];
  mount(app: Express, settings: StandInSettings): void;
}
