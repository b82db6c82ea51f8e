import type { Transaction } from 'kysely';
import type { StripeForBrowsers } from '../checkout/index.ts';
import type { ContactModule } from '../contact/index.ts';
import type { DeletionModule } from '../deletion/index.ts';
import type { FederationModule } from '../federation/index.ts';
import type { HostCookies, Logger, Pages } from '../http/index.ts';
import type { BillingService, Catalogue } from '../membership/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { MfaModule } from '../mfa/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { PasswordModule } from '../password/index.ts';
import type { DeviceRecognition, Sessions } from '../sessions/index.ts';
import type { UserId } from '../shared/index.ts';
import type { NextRedirect } from '../sign-in/index.ts';
import type { Database, KeyValueStore, Schema, SecretBox } from '../store/index.ts';
import type { TermsVersion } from '../users/index.ts';
import type { FormDrafts } from './form-drafts.ts';

/** A client app or device that a member is connected with. Times in milliseconds since the epoch. */
export interface ConnectedApp {
  clientId: string;
  name: string;
  /** The scopes to which the member consented; empty where the marketplace's own app needs no consent. */
  scopes: readonly string[];
  /** The same at resource servers, by their identifiers. */
  resources: ReadonlyMap<string, readonly string[]>;
  createdAt: number;
  lastUsedAt: number;
}

/** The client apps and devices that members are connected with. The OpenID Provider implements it. */
export interface ConnectedApps {
  /** The last used first. */
  list(userId: UserId): Promise<ConnectedApp[]>;
  /** Ends the consent and everything that the app was granted. @returns false when they were not connected */
  remove(trx: Transaction<Schema>, userId: UserId, clientId: string): Promise<boolean>;
}

export interface AccountDeps {
  publicUrl: string;
  pages: Pages;
  log: Logger;
  database: Database;
  kv: KeyValueStore;
  cookies: HostCookies;
  outbox: Outbox;
  sessions: Sessions;
  devices: DeviceRecognition;
  nextRedirect: NextRedirect;
  mfa: Pick<MfaModule, 'enrolling' | 'smsCodes' | 'remembered'>;
  /** Seals recovery codes between the act that made them and the page that shows them. */
  mfaBox: SecretBox;
  /** Whether text messages are sent at all. */
  smsOffered: boolean;
  /** Undefined where browsers have none. */
  passkeys: Passkeys | undefined;
  /** The terms in force. */
  terms: TermsVersion;
  password: Pick<PasswordModule, 'change' | 'setFirst'>;
  contact: Pick<ContactModule, 'email' | 'phone' | 'flows'>;
  deletion: Pick<
    DeletionModule,
    'ask' | 'findRenewingSubscription' | 'cancelledLately' | 'findExport' | 'findPendingReset' | 'cancelReset'
  >;
  /** Providers by which members sign in. */
  federation: Pick<FederationModule, 'providers' | 'begin'>;
  /** The client apps that members are connected with. */
  connectedApps: ConnectedApps;
  membership: BillingService & { catalogue: Catalogue };
  /** For the pages on which cards are entered. */
  stripe: StripeForBrowsers;
  /** Stripe's time, which in the sandbox can be moved. */
  billingNow: () => number;
  /** What is answered while too many passwords are being hashed already. */
  queueFull: { status: number; retrySeconds: number };
  /** What was typed into a form that came too late. */
  formDrafts: FormDrafts;
  now: () => number;
}

/** As `app.ts` gives them. */
export type SettingsSettings = Omit<AccountDeps, 'formDrafts'> & {
  /** Seals what was typed into a form that came too late. */
  contactBox: SecretBox;
};
