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
  signing_keys: SigningKeyTable;
  oidc: OidcTable;
  client_sessions: ClientSessionTable;
  connected_apps: ConnectedAppTable;
  meta: MetaTable;
  leases: LeaseTable;
  resource_servers: ResourceServerTable;
  outbox: OutboxTable;
  outbox_deduplication: OutboxDeduplicationTable;
  notifications: NotificationTable;
  sign_ups: SignUpTable;
  user_records: UserRecordTable;
  terms_acceptances: TermsAcceptanceTable;
  partner_deals: PartnerDealTable;
  totp_authenticators: TotpAuthenticatorTable;
  recovery_codes: RecoveryCodeTable;
  remembered_devices: RememberedDeviceTable;
  factor_resets: FactorResetTable;
  passkeys: PasskeyTable;
  email_changes: EmailChangeTable;
  account_deletions: AccountDeletionTable;
  memberships: MembershipTable;
  purchases: PurchaseTable;
  orders: OrderTable;
  stripe_events: StripeEventTable;
  trial_claims: TrialClaimTable;
  told_members: ToldMemberTable;
  billing_tasks: BillingTaskTable;
  federated_identities: FederatedIdentityTable;
}

/** One user: the specification's identity session user and user attributes in one row. */
export interface UserTable {
  id: UserId;
  /** Lower-cased; unique. */
  email: NormalisedEmail;
  email_verified: number;
  /** E.164; unique when set. */
  phone: E164 | null;
  phone_verified: number;
  /** Time of the last change of the number; null: never. */
  phone_changed_at: number | null;
  /**
   * argon2id in PHC format, or an imported format (`password_profile`); null for users who only sign in with a
   * provider, and for imported ones without a password.
   */
  password_hash: string | null;
  /** Profile of an imported hash; null: Foyer made it. */
  password_profile: string | null;
  /** Number of password changes: everything that was issued under an earlier epoch is invalid. */
  password_epoch: number;
  /** The epoch of the last sign-in; null: never. */
  signed_in_epoch: number | null;
  given_name: string;
  family_name: string;
  locale: string;
  /** null: never accepted. */
  accepted_tos_version: number | null;
  accepted_tos_at: number | null;
  /** general, appsumo or appsumo_update. */
  source: string;
  /** The user's plan; only `membership/` writes it. */
  plan_id: PlanId | null;
  /** End of the trial; null: no trial. */
  trial_until: number | null;
  /** A partner's plan that waits for the user's confirmation (source appsumo_update). */
  offered_plan_id: PlanId | null;
  /** When a user who declined that plan for now is asked again (milliseconds since the epoch). */
  deal_again_at: number | null;
  picture: string | null;
  /** ISO 8601 date. */
  birthdate: string | null;
  address: string | null;
  company_name: string | null;
  job_title: string | null;
  preferred_language: string | null;
  /** '0': unspecified. */
  gender: string;
  newsletter: number;
  /** The second factor of the sign-in: none, sms or totp. */
  mfa_preference: string;
  /** 1: a provider of the user requires a second factor; it must be set up before anything else. */
  second_factor_required: number;
  /** Set while an operator has disabled the user. */
  disabled_at: number | null;
  /** When the user was imported (`foyer user import`); null: they signed up here. */
  imported_at: number | null;
  created_at: number;
  updated_at: number;
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
  expires_at: number;
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
  sealed_payload: SealedText | null;
  /** Messages of one group are delivered one after the other, in the order of their positions. */
  group_id: string | null;
  /** Position among the waiting ones of its group; 0 without a group. Ids of one millisecond have no order. */
  group_position: number;
  /** waiting, delivered or dead. */
  state: string;
  attempts: number;
  last_error: string | null;
  next_attempt_at: number;
  created_at: number;
  /** It is not delivered after this. */
  expires_at: number | null;
  /** Time of delivery or of giving up. */
  finished_at: number | null;
  /** 1: without a recipient; the worker renders and discards it. */
  decoy: number;
}

/** Ids that recognize a repeated message. */
export interface OutboxDeduplicationTable {
  id: string;
  message_id: string;
  expires_at: number;
}

/** A notification inside the marketplace. */
export interface NotificationTable {
  id: string;
  user_id: UserId;
  title: string;
  description: string;
  category: string;
  /** JSON: further data of its sender. */
  details: string;
  /** unread or read. */
  status: string;
  /** 1: it reports a change of credentials; only the product itself can write it. */
  security: Generated<number>;
  created_at: number;
  updated_at: number;
}

/**
 * A sign-up with an unconfirmed address. Any number may be started with one address: the one whose code is entered
 * becomes the user, so that a user's account never has another person's password.
 */
export interface SignUpTable {
  id: string;
  /** Lower-cased. */
  email: NormalisedEmail;
  given_name: string;
  family_name: string;
  /** '' if the sign-up was started with a provider, and after its confirmation. */
  password_hash: string;
  locale: string;
  source: string;
  /** JSON: the identity at the provider of the sign-up; null: it was started with a password. */
  identity: string | null;
  /** The public handle of the plan in the address. */
  plan_key: PlanKey | null;
  /** JSON: the shown and accepted terms, and the place. */
  terms: string;
  /** The query with a client app's request, or with the requested page. */
  errand: string;
  /**
   * begun; confirmed: it has become a user; decoy: the address already belonged to a user, which the visitor did not
   * learn.
   */
  state: string;
  /** The user that it has become. */
  user_id: UserId | null;
  created_at: number;
  updated_at: number;
  expires_at: number;
}

/** The specification's user record without the columns of `users`. JSON columns have objects. */
export interface UserRecordTable {
  id: string;
  user_id: UserId;
  stripe_customer_id: string | null;
  about: string;
  additional_attributes: string;
  image_name: string | null;
  notification_setting: string;
  social_media_links: string;
  status: string;
  total_rewards: string;
  company_category: string | null;
  user_type: string | null;
  created_at: number;
  updated_at: number;
}

/** The ledger of terms: the acceptances with user, time and place. Rows are only added. */
export interface TermsAcceptanceTable {
  id: string;
  user_id: UserId;
  version: number;
  label: string;
  lang: string;
  /** SHA-256 (base64url) of the shown text. */
  text_hash: Sha256;
  ip: string | null;
  user_agent: string | null;
  /** The client app with a pending request. */
  client_id: ClientId | null;
  accepted_at: number;
}

/** A plan that was bought from a partner (the specification's appsumo), by the buyer's address. */
export interface PartnerDealTable {
  /** Lower-cased. */
  email: NormalisedEmail;
  /** 1 to 3. */
  tier: number;
  imported_at: number;
  user_id: UserId | null;
  used_at: number | null;
}
