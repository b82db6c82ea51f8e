import type { Generated } from 'kysely';
import type { ClientId, E164, NormalisedEmail, PlanId, PlanKey, SealedText, Sha256, UserId } from '../shared/index.ts';
import type { FederatedIdentityTable } from './schema-federation.ts';
import type {
  AccountDeletionTable,
  EmailChangeTable,
  FactorResetTable,
  PasskeyTable,
  RecoveryCodeTable,
  RememberedDeviceTable,
  TotpAuthenticatorTable,
} from './schema-members.ts';
import type {
  BillingTaskTable,
  MembershipTable,
  OrderTable,
  PurchaseTable,
  StripeEventTable,
  ToldMemberTable,
  TrialClaimTable,
} from './schema-membership.ts';
import type {
  ClientSessionTable,
  ClientTable,
  ConnectedAppTable,
  OidcTable,
  ResourceServerTable,
  SigningKeyTable,
} from './schema-oauth.ts';

/**
 * The tables, as Kysely sees them. Times are integer milliseconds since the epoch (UTC), booleans are 0 or 1, ids are
 * UUIDv7 text unless stated otherwise. SQLite and PostgreSQL have the same columns.
 */
export interface Schema {
  users: UserTable;
  clients: ClientTable;
  signingKeys: SigningKeyTable;
  oidc: OidcTable;
  clientSessions: ClientSessionTable;
  connectedApps: ConnectedAppTable;
  meta: MetaTable;
  leases: LeaseTable;
  resourceServers: ResourceServerTable;
  outbox: OutboxTable;
  outboxDeduplication: OutboxDeduplicationTable;
  notifications: NotificationTable;
  signUps: SignUpTable;
  userRecords: UserRecordTable;
  termsAcceptances: TermsAcceptanceTable;
  partnerDeals: PartnerDealTable;
  totpAuthenticators: TotpAuthenticatorTable;
  recoveryCodes: RecoveryCodeTable;
  rememberedDevices: RememberedDeviceTable;
  factorResets: FactorResetTable;
  passkeys: PasskeyTable;
  emailChanges: EmailChangeTable;
  accountDeletions: AccountDeletionTable;
  memberships: MembershipTable;
  purchases: PurchaseTable;
  orders: OrderTable;
  stripeEvents: StripeEventTable;
  trialClaims: TrialClaimTable;
  toldMembers: ToldMemberTable;
  billingTasks: BillingTaskTable;
  federatedIdentities: FederatedIdentityTable;
}

/** One user: the specification's identity session user and user attributes in one row. */
export interface UserTable {
  id: UserId;
  /** Lower-cased; unique. */
  email: NormalisedEmail;
  emailVerified: number;
  /** E.164; unique when set. */
  phone: E164 | null;
  phoneVerified: number;
  /** Time of the last change of the number; null: never. */
  phoneChangedAt: number | null;
  /**
   * argon2id in PHC format, or an imported format (`password_profile`); null for users who only sign in with a
   * provider, and for imported ones without a password.
   */
  passwordHash: string | null;
  /** Profile of an imported hash; null: Foyer made it. */
  passwordProfile: string | null;
  /** Number of password changes: everything that was issued under an earlier epoch is invalid. */
  passwordEpoch: number;
  /** The epoch of the last sign-in; null: never. */
  signedInEpoch: number | null;
  givenName: string;
  familyName: string;
  locale: string;
  /** null: never accepted. */
  acceptedTosVersion: number | null;
  acceptedTosAt: number | null;
  source: 'general' | 'appsumo' | 'appsumo_update';
  /** The user's plan; only `membership/` writes it. */
  planId: PlanId | null;
  /** End of the trial; null: no trial. */
  trialUntil: number | null;
  /** A partner's plan that waits for the user's confirmation (source appsumo_update). */
  offeredPlanId: PlanId | null;
  /** When a user who declined that plan for now is asked again (milliseconds since the epoch). */
  dealAgainAt: number | null;
  picture: string | null;
  /** ISO 8601 date. */
  birthdate: string | null;
  address: string | null;
  companyName: string | null;
  jobTitle: string | null;
  preferredLanguage: string | null;
  /** '0': unspecified. */
  gender: string;
  newsletter: number;
  /** The second factor of the sign-in. */
  mfaPreference: 'none' | 'sms' | 'totp';
  /** 1: a provider of the user requires a second factor; it must be set up before anything else. */
  secondFactorRequired: number;
  /** Set while an operator has disabled the user. */
  disabledAt: number | null;
  /** When the user was imported (`foyer user import`); null: they signed up here. */
  importedAt: number | null;
  createdAt: number;
  updatedAt: number;
}

/** Facts about the database itself: sandbox stamp, key check. */
export interface MetaTable {
  name: string;
  value: string;
}

/** The process that does a job which only one may do at a time. */
export interface LeaseTable {
  name: string;
  holder: string;
  expiresAt: number;
}

/** One message that waits or was recently delivered. */
export interface OutboxTable {
  id: string;
  /** mail, sms, notification or logout-token. */
  channel: string;
  template: string;
  /** Masked, for listings. */
  recipient: string;
  /** JSON, sealed; null once it was delivered, or cannot be any more. */
  sealedPayload: SealedText | null;
  /** Messages of one group are delivered one after the other, in the order of their positions. */
  groupId: string | null;
  /** Position among the waiting ones of its group; 0 without a group. Ids of one millisecond have no order. */
  groupPosition: number;
  state: 'waiting' | 'delivered' | 'dead';
  attempts: number;
  lastError: string | null;
  nextAttemptAt: number;
  createdAt: number;
  /** It is not delivered after this. */
  expiresAt: number | null;
  /** Time of delivery or of giving up. */
  finishedAt: number | null;
  /** 1: without a recipient; the worker renders and discards it. */
  decoy: number;
}

/** Ids that recognize a repeated message. */
export interface OutboxDeduplicationTable {
  id: string;
  messageId: string;
  expiresAt: number;
}

/** A notification inside the marketplace. */
export interface NotificationTable {
  id: string;
  userId: UserId;
  title: string;
  description: string;
  category: string;
  /** JSON: further data of its sender. */
  details: string;
  status: 'unread' | 'read';
  /** 1: it reports a change of credentials; only the product itself can write it. */
  security: Generated<number>;
  createdAt: number;
  updatedAt: number;
}

/**
 * A sign-up with an unconfirmed address. Any number may be started with one address: the one whose code is entered
 * becomes the user, so that a user's account never has another person's password.
 */
export interface SignUpTable {
  id: string;
  /** Lower-cased. */
  email: NormalisedEmail;
  givenName: string;
  familyName: string;
  /** '' if the sign-up was started with a provider, and after its confirmation. */
  passwordHash: string;
  locale: string;
  source: 'general' | 'appsumo';
  /** JSON: the identity at the provider of the sign-up; null: it was started with a password. */
  identity: string | null;
  /** The public handle of the plan in the address. */
  planKey: PlanKey | null;
  /** JSON: the shown and accepted terms, and the place. */
  terms: string;
  /** The query with a client app's request, or with the requested page. */
  errand: string;
  /**
   * confirmed: it has become a user; decoy: the address already belonged to a user, which the visitor did not learn.
   */
  state: 'begun' | 'confirmed' | 'decoy';
  /** The user that it has become. */
  userId: UserId | null;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
}

/** The specification's user record without the columns of `users`. JSON columns have objects. */
export interface UserRecordTable {
  id: string;
  userId: UserId;
  stripeCustomerId: string | null;
  about: string;
  additionalAttributes: string;
  imageName: string | null;
  notificationSetting: string;
  socialMediaLinks: string;
  status: string;
  totalRewards: string;
  companyCategory: string | null;
  userType: string | null;
  createdAt: number;
  updatedAt: number;
}

/** The ledger of terms: the acceptances with user, time and place. Rows are only added. */
export interface TermsAcceptanceTable {
  id: string;
  userId: UserId;
  version: number;
  label: string;
  lang: string;
  /** SHA-256 (base64url) of the shown text. */
  textHash: Sha256;
  ip: string | null;
  userAgent: string | null;
  /** The client app with a pending request. */
  clientId: ClientId | null;
  acceptedAt: number;
}

/** A plan that was bought from a partner (the specification's appsumo), by the buyer's address. */
export interface PartnerDealTable {
  /** Lower-cased. */
  email: NormalisedEmail;
  tier: 1 | 2 | 3;
  importedAt: number;
  userId: UserId | null;
  usedAt: number | null;
}
