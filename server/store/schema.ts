import type { Generated } from 'kysely';
import type { SealedText, Sha256, UserId } from '../shared/index.ts';
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
 * The tables, as Kysely sees them. Times are integer milliseconds since the epoch (UTC), booleans are 0 or 1,
 * ids are UUIDv7 text unless said otherwise. SQLite and PostgreSQL hold the same columns.
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

/** One member: the specification's identity session user and user attributes in one row. */
export interface UserTable {
  id: UserId;
  /** Lower-cased; unique. */
  email: string;
  email_verified: number;
  /** E.164; unique when set. */
  phone: string | null;
  phone_verified: number;
  /** When the member last changed the number; null: never. */
  phone_changed_at: number | null;
  /**
   * argon2id in PHC format, or what another service made of it (`password_profile`); null for members who only sign in
   * through a provider, and for imported ones who have not set a password yet.
   */
  password_hash: string | null;
  /** With what a hash from another service was made; null: here. */
  password_profile: string | null;
  /** How often the password has been set anew: what was given out under an earlier one is void. */
  password_epoch: number;
  /** Under which of them the member has signed in; null: never. */
  signed_in_epoch: number | null;
  given_name: string;
  family_name: string;
  locale: string;
  /** null: never accepted. */
  accepted_tos_version: number | null;
  accepted_tos_at: number | null;
  /** general, appsumo or appsumo_update. */
  source: string;
  /** The plan that the member has; written by `membership/` alone. */
  plan_id: string | null;
  /** Until when the member has what a trial gives; null: no trial. */
  trial_until: number | null;
  /** A partner's plan that waits for the member's Confirm (source appsumo_update). */
  offered_plan_id: string | null;
  /** When the member, who did not want that plan yet, is asked again (milliseconds since the epoch). */
  deal_again_at: number | null;
  picture: string | null;
  /** ISO 8601 date. */
  birthdate: string | null;
  address: string | null;
  company_name: string | null;
  job_title: string | null;
  preferred_language: string | null;
  /** '0': not said. */
  gender: string;
  newsletter: number;
  /** Which second factor is asked for at the sign-in: none, sms or totp. */
  mfa_preference: string;
  /** 1: a provider of the member demands a second factor here; it must be set up before anything else. */
  second_factor_required: number;
  /** Set while an operator has disabled the member. */
  disabled_at: number | null;
  /** When the member came from another service (`foyer user import`); null: they signed up here. */
  imported_at: number | null;
  created_at: number;
  updated_at: number;
}

/** Facts about the database itself: sandbox stamp, key check. */
export interface MetaTable {
  name: string;
  value: string;
}

/** Which process does a job that only one may do at a time. */
export interface LeaseTable {
  name: string;
  holder: string;
  expires_at: number;
}

/** One message on its way, or lately delivered. */
export interface OutboxTable {
  id: string;
  /** mail, sms, notification or logout-token. */
  channel: string;
  template: string;
  /** Masked, for listings. */
  recipient: string;
  /** JSON, sealed; null once it has been delivered, or can no longer be. */
  sealed_payload: SealedText | null;
  /** Messages of one group are delivered one after the other, in the order of their positions. */
  group_id: string | null;
  /** Among those of its group that wait; 0 without a group. Ids of one millisecond have no order among themselves. */
  group_position: number;
  /** waiting, delivered or dead. */
  state: string;
  attempts: number;
  last_error: string | null;
  next_attempt_at: number;
  created_at: number;
  /** After which it is not delivered. */
  expires_at: number | null;
  /** When it was delivered or given up. */
  finished_at: number | null;
  /** 1: addressed to nobody; the worker renders it and throws it away. */
  decoy: number;
}

/** Ids by which a message is recognised when it is asked for a second time. */
export interface OutboxDeduplicationTable {
  id: string;
  message_id: string;
  expires_at: number;
}

/** What a member was told inside the marketplace. */
export interface NotificationTable {
  id: string;
  user_id: UserId;
  title: string;
  description: string;
  category: string;
  /** JSON: what else its sender said of it. */
  details: string;
  /** unread or read. */
  status: string;
  /** 1: of a change to how the member signs in, which no sender but the product itself can write. */
  security: Generated<number>;
  created_at: number;
  updated_at: number;
}

/**
 * An account that somebody has begun and whose address is not confirmed. Any number may be begun with one address: the one
 * whose code comes back becomes the member, so that nobody's password is ever found on somebody else's account.
 */
export interface SignUpTable {
  id: string;
  /** Lower-cased. */
  email: string;
  given_name: string;
  family_name: string;
  /** '' where the account was begun by a provider, and once it has become a member. */
  password_hash: string;
  locale: string;
  source: string;
  /** JSON: who the person is at the provider by which the account was begun; null: it was begun with a password. */
  identity: string | null;
  /** The public handle of the plan that was chosen by the address. */
  plan_key: string | null;
  /** JSON: which terms were shown and accepted, from where. */
  terms: string;
  /** The query by which a client app's request, or a page that was wanted, is carried along. */
  errand: string;
  /** begun; confirmed: it has become a member; decoy: the address was a member's already, and the visitor was not told. */
  state: string;
  /** The member that it has become. */
  user_id: UserId | null;
  created_at: number;
  updated_at: number;
  expires_at: number;
}

/** The specification's user record, as far as it does not stand in `users`. JSON columns hold objects. */
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

/** The ledger of terms: who accepted what, when, from where. Rows are only added. */
export interface TermsAcceptanceTable {
  id: string;
  user_id: UserId;
  version: number;
  label: string;
  lang: string;
  /** SHA-256 (base64url) of the text as it was shown. */
  text_hash: Sha256;
  ip: string | null;
  user_agent: string | null;
  /** The client app that waited meanwhile. */
  client_id: string | null;
  accepted_at: number;
}

/** A plan that was bought from a partner (the specification's appsumo), by the buyer's address. */
export interface PartnerDealTable {
  /** Lower-cased. */
  email: string;
  /** 1 to 3. */
  tier: number;
  imported_at: number;
  user_id: UserId | null;
  used_at: number | null;
}
