import type { SealedText, Sha256, UserId } from '../shared/index.ts';

/** Tables of what members look after themselves: factors, passkeys, addresses, leaving. As in `schema.ts`. */

/** A member's authenticator app (RFC 6238). A row is one that has been activated. */
export interface TotpAuthenticatorTable {
  user_id: UserId;
  /** Base32, sealed. */
  sealed_secret: SealedText;
  /** The last time step whose code was accepted: it, and none before it, is accepted again. */
  last_step: number;
  created_at: number;
}

/** One of the ten codes for a member whose second factor is lost. */
export interface RecoveryCodeTable {
  id: string;
  user_id: UserId;
  /** SHA-256 (base64url); the codes have 80 bits, so nothing slower is needed. */
  code_hash: Sha256;
  created_at: number;
  used_at: number | null;
}

/** A browser on which the second factor is not asked for again for a while. */
export interface RememberedDeviceTable {
  id: string;
  user_id: UserId;
  secret_hash: Sha256;
  /** Void once the member has had another password since. */
  password_epoch: number;
  user_agent: string;
  ip: string;
  created_at: number;
  last_used_at: number;
  expires_at: number;
}

/** An operator was asked to take a member's second factor away: it happens after a while, unless the member says no. */
export interface FactorResetTable {
  id: string;
  user_id: UserId;
  /** SHA-256 of what the links to say no carry. */
  token_hash: Sha256;
  /** waiting, cancelled or done. */
  state: string;
  requested_at: number;
  due_at: number;
  ended_at: number | null;
}

/** A passkey (WebAuthn level 3). */
export interface PasskeyTable {
  /** Credential id, base64url. */
  id: string;
  user_id: UserId;
  /** What the member calls it. */
  name: string;
  /** COSE key, base64url. */
  public_key: string;
  counter: number;
  /** Separated by spaces. */
  transports: string;
  aaguid: string;
  backed_up: number;
  created_at: number;
  last_used_at: number | null;
}

/** A change of a member's address, which the owner of the old one can undo for a while (`security.md`, rule 14). */
export interface EmailChangeTable {
  id: string;
  user_id: UserId;
  old_email: string;
  new_email: string;
  /** SHA-256 of what the link to undo it carries. */
  undo_hash: Sha256;
  changed_at: number;
  undo_until: number;
  undone_at: number | null;
}

/** A member who leaves. The row stays when everything else of the member is gone. */
export interface AccountDeletionTable {
  user_id: UserId;
  requested_at: number;
  due_at: number;
  done_at: number | null;
  /** How the paid membership ends with it: at-once, period-end, period-end:<plan to come>; null: there was none that went on. */
  membership: string | null;
}
