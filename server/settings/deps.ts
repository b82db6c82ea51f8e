import type { Transaction } from 'kysely';
import type { TermsVersion } from '../account/index.ts';
import type { StripeForBrowsers } from '../checkout/index.ts';
import type { ContactRoom } from '../contact/index.ts';
import type { FederationRoom } from '../federation/index.ts';
import type { HostCookies, Logger, Pages } from '../http/index.ts';
import type { LeavingRoom } from '../leaving/index.ts';
import type { Catalogue, MembershipRules } from '../membership/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { MfaRoom } from '../mfa/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { PasswordRoom } from '../password/index.ts';
import type { Devices, Sessions } from '../session/index.ts';
import type { WayOn } from '../sign-in/index.ts';
import type { Database, KeyValueStore, Schema, SecretBox } from '../store/index.ts';
import type { Stash } from './stash.ts';

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
  list(userId: string): Promise<ConnectedApp[]>;
  /** Ends the consent and everything that the app was granted. @returns false when they were not connected */
  remove(trx: Transaction<Schema>, userId: string, clientId: string): Promise<boolean>;
}

export interface SettingsDeps {
  publicUrl: string;
  pages: Pages;
  log: Logger;
  database: Database;
  kv: KeyValueStore;
  cookies: HostCookies;
  outbox: Outbox;
  sessions: Sessions;
  devices: Devices;
  wayOn: WayOn;
  mfa: Pick<MfaRoom, 'enrolling' | 'smsCodes' | 'remembered'>;
  /** Seals recovery codes between the act that made them and the page that shows them. */
  mfaBox: SecretBox;
  /** Whether text messages are sent at all. */
  smsOffered: boolean;
  /** Undefined where browsers have none. */
  passkeys: Passkeys | undefined;
  /** The terms in force. */
  terms: TermsVersion;
  password: Pick<PasswordRoom, 'change' | 'setFirst'>;
  contact: Pick<ContactRoom, 'email' | 'phone' | 'flows'>;
  leaving: Pick<LeavingRoom, 'ask' | 'membershipOf' | 'cancelledLately' | 'exportOf' | 'waitingReset' | 'cancelReset'>;
  /** Providers by which members sign in. */
  federation: Pick<FederationRoom, 'providers' | 'begin'>;
  /** The client apps that members are connected with. */
  connectedApps: ConnectedApps;
  membership: MembershipRules & { catalogue: Catalogue };
  /** For the pages on which cards are entered. */
  stripe: StripeForBrowsers;
  /** Stripe's time, which in the sandbox can be moved. */
  billingNow: () => number;
  /** What is answered while too many passwords are being hashed already. */
  queueFull: { status: number; retrySeconds: number };
  /** What was typed into a form that came too late. */
  stash: Stash;
  now: () => number;
}

/** As `app.ts` gives them. */
export type SettingsSettings = Omit<SettingsDeps, 'stash'> & {
  /** Seals what was typed into a form that came too late. */
  contactBox: SecretBox;
};
