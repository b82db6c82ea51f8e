import type { SealedText, SessionIdHash, Sha256, UserId } from '../shared/index.ts';

/** Tables of client apps and of what they are given. As in `schema.ts`. */

/** One client app. `metadata` is JSON in RFC 7591 names, without the secret. */
export interface ClientTable {
  id: string;
  name: string;
  metadata: string;
  /** SHA-256 (hex) of the client secret; null for public clients. */
  secret_hash: Sha256 | null;
  /** SHA-256 (hex) of the secret before that one. */
  previous_secret_hash: Sha256 | null;
  /** Until when the previous secret is valid (milliseconds since the epoch). */
  previous_secret_expires_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface SigningKeyTable {
  /** The JWK's `kid`. */
  id: string;
  alg: string;
  /** The private JWK, sealed (see secret-box.ts). */
  sealed_jwk: SealedText;
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
  id_hash: Sha256;
  /** JSON, sealed. */
  payload: SealedText;
  grant_id: Sha256 | null;
  client_id: string | null;
  account_id: UserId | null;
  /** Hash of the Foyer session that it belongs to. */
  foyer_session: SessionIdHash | null;
  /** 1: a grant that outlives its session (offline access, or a device); 0: it ends with the session. */
  offline: number;
  consumed_at: number | null;
  expires_at: number;
}

/**
 * A client app that a member has consented to, or that has offline access. Scopes are those of the consent; empty where
 * the marketplace's own app needs none.
 */
export interface ConnectedAppTable {
  user_id: UserId;
  client_id: string;
  /** Separated by spaces. */
  scopes: string;
  /** JSON: scopes by the identifiers of resource servers, each separated by spaces. */
  resources: string;
  created_at: number;
  last_used_at: number;
}

/**
 * What a Foyer session is called to a client app that is told when it ends (OpenID Connect Back-Channel Logout 1.0). Not in
 * the grant: a client app that gives back its tokens ends that, and the member is still signed in there.
 */
export interface ClientSessionTable {
  /** As its id tokens have it. */
  sid: string;
  /** Hash of the Foyer session. */
  foyer_session: SessionIdHash;
  client_id: string;
  account_id: UserId;
  created_at: number;
  /** Later than any session; moved on while it is used. */
  expires_at: number;
}

/** An API of the marketplace for which JWT access tokens are given. */
export interface ResourceServerTable {
  /** Absolute URI. */
  identifier: string;
  /** Separated by spaces. */
  scopes: string;
  /** ES256 or RS256. */
  signing_alg: string;
  created_at: number;
}
