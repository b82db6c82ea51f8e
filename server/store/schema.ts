/**
 * The tables, as Kysely sees them. Times are integer milliseconds since the epoch (UTC), booleans are 0 or 1,
 * ids are UUIDv7 text unless said otherwise. SQLite and PostgreSQL hold the same columns.
 */
export interface Schema {
  users: UserTable;
  clients: ClientTable;
  signing_keys: SigningKeyTable;
  oidc: OidcTable;
  meta: MetaTable;
  leases: LeaseTable;
  resource_servers: ResourceServerTable;
}

/** One member: the specification's identity session user, user attributes and user record in one row. */
export interface UserTable {
  id: string;
  /** Lower-cased; unique. */
  email: string;
  email_verified: number;
  /** E.164; unique when set. */
  phone: string | null;
  phone_verified: number;
  /** argon2id in PHC format, or null for members who only sign in through a provider. */
  password_hash: string | null;
  given_name: string;
  family_name: string;
  locale: string;
  /** null: never accepted. */
  accepted_tos_version: number | null;
  accepted_tos_at: number | null;
  /** general, appsumo or appsumo_update. */
  source: string;
  plan_id: string | null;
  picture: string | null;
  /** Set while an operator has disabled the member. */
  disabled_at: number | null;
  created_at: number;
  updated_at: number;
}

/** One client app. `metadata` is JSON in RFC 7591 names, without the secret. */
export interface ClientTable {
  id: string;
  name: string;
  metadata: string;
  /** SHA-256 (hex) of the client secret; null for public clients. */
  secret_hash: string | null;
  created_at: number;
  updated_at: number;
}

export interface SigningKeyTable {
  /** The JWK's `kid`. */
  id: string;
  alg: string;
  /** The private JWK, sealed (see secret-box.ts). */
  sealed_jwk: string;
  created_at: number;
  /** When it begins to sign; published before. */
  activates_at: number;
  /** When it stops being published; null while none has followed it. */
  expires_at: number | null;
}

/** Records of the OpenID Provider that must survive a flushed key-value store: grants and refresh tokens. */
export interface OidcTable {
  model: string;
  /** SHA-256 (base64url) of the record's id; the id itself is a bearer secret and is stored nowhere. */
  id_hash: string;
  /** JSON, sealed. */
  payload: string;
  grant_id: string | null;
  client_id: string | null;
  account_id: string | null;
  /** Hash of the Foyer session that it belongs to. */
  foyer_session: string | null;
  consumed_at: number | null;
  expires_at: number;
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

/** An API of the marketplace for which JWT access tokens are given. */
export interface ResourceServerTable {
  /** Absolute URI. */
  identifier: string;
  /** Separated by spaces. */
  scopes: string;
  created_at: number;
}
