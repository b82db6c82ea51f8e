import type { Transaction } from 'kysely';
import type { BillingService, Catalogue, StripeForBrowsers } from '../billing/index.ts';
import type { FederationModule } from '../federation/index.ts';
import type { HostCookies, Logger, Pages } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { MfaDeps } from '../mfa/index.ts';
import type { PasskeyDeps } from '../passkeys/index.ts';
import type { PasswordDeps } from '../password/index.ts';
import type { DeviceRecognition, Sessions } from '../sessions/index.ts';
import type { ClientId, UserId } from '../shared/index.ts';
import type { NextRedirect } from '../sign-in/index.ts';
import type { Database, KeyValueStore, Schema, SecretBox } from '../store/index.ts';
import type { ProfileField, TermsVersion } from '../users/index.ts';
import type { ContactDeps } from './contact/contact-deps.ts';
import type { DeletionDeps } from './deletion/deletion-deps.ts';
import type { FormDrafts } from './form-drafts.ts';

/** A client app or device with which a user is connected. Times in milliseconds since the epoch. */
export interface ConnectedApp {
  clientId: ClientId;
  name: string;
  logoUrl: string | undefined;
  /** Of the logo, for the content security policy. */
  logoOrigins: readonly string[];
  /** The scopes of the consent; empty for the marketplace's own app, which needs no consent. */
  scopes: readonly string[];
  /** The same at resource servers, by their identifiers. */
  resources: ReadonlyMap<string, readonly string[]>;
  createdAt: number;
  lastUsedAt: number;
}

/** The client apps and devices with which users are connected. The OpenID Provider implements it. */
export interface ConnectedApps {
  /** The most recently used first. */
  list(userId: UserId): Promise<ConnectedApp[]>;
  /** Ends the consent and everything that the app was granted. @returns false if they were not connected */
  remove(trx: Transaction<Schema>, userId: UserId, clientId: ClientId): Promise<boolean>;
  /** The name of a client app, also of one that the user is not connected with. */
  findName(clientId: ClientId): Promise<string | undefined>;
}

export interface AccountDeps {
  publicUrl: string;
  brandName: string;
  pages: Pages;
  log: Logger;
  database: Database;
  kv: KeyValueStore;
  /** Fields of the profile that are not switched on. */
  withheldFields: ReadonlySet<ProfileField>;
  /** The address below which uploaded pictures are served; undefined: users upload none. */
  uploadsBaseUrl: string | undefined;
  cookies: HostCookies;
  outbox: Outbox;
  sessions: Sessions;
  devices: DeviceRecognition;
  nextRedirect: NextRedirect;
  mfa: MfaDeps;
  /** Seals recovery codes between their creation and the page that shows them. */
  mfaBox: SecretBox;
  /** Whether text messages can be sent. */
  smsOffered: boolean;
  /** Undefined if passkeys are unsupported. */
  passkeys: PasskeyDeps | undefined;
  /** The current terms. */
  terms: TermsVersion;
  password: PasswordDeps;
  contact: ContactDeps;
  deletion: DeletionDeps;
  /** Providers with which users sign in. */
  federation: Pick<FederationModule, 'providers' | 'begin'>;
  /** The client apps with which users are connected. */
  connectedApps: ConnectedApps;
  membership: BillingService & { catalogue: Catalogue };
  /** For the pages with a card form. */
  stripe: StripeForBrowsers;
  /** Stripe's time, which the sandbox can advance. */
  billingNow: () => number;
  /** The answer while too many passwords wait to be hashed. */
  queueFull: { status: number; retrySeconds: number };
  /** The input of a form that was sent too late. */
  formDrafts: FormDrafts;
  now: () => number;
}

/** The dependencies from `wiring.ts`. */
export type AccountSettings = Omit<AccountDeps, 'formDrafts'> & {
  /** Seals the input of a form that was sent too late. */
  contactBox: SecretBox;
};
