import type { CryptoKey, JWK } from 'jose';
import type { Client } from './authorize.ts';
import type { Counter } from './counter.ts';
import type { Signer } from './signer.ts';

/** The key of id tokens (RS256). */
export interface TokenKeys {
  kid: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
  /** Somebody else's. */
  otherKey(): Promise<CryptoKey>;
}

/** What every stand-in is made from. */
export interface StandInSettings {
  /** As browsers and Foyer reach them, as in http://127.0.0.1:3001. */
  origin: string;
  clients: { google: Client; facebook: Client; amazon: Client; oidc: Client };
  counter: Counter;
  /** Milliseconds since the epoch. */
  now(): number;
  keys: TokenKeys;
  /** Of the SAML identity provider; its answers are signed by it. */
  samlSigner: Signer;
  /** Somebody else's. */
  otherSigner(): Signer;
  /** Of Foyer as a SAML service provider (PEM): what it signs is checked by it, and what is secret encrypted for it. */
  serviceProviderCertificate: string;
  /** Where Foyer is; for what begins at the identity provider. */
  foyerUrl(): string | undefined;
}
