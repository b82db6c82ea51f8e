import type { NormalisedEmail, SealedText, Sha256, UserId } from '../shared/index.ts';

/** Tables of data that users manage themselves: factors, passkeys, addresses, deletion. See `schema.ts`. */

/** A user's authenticator app (RFC 6238). Only activated ones have a row. */
export interface TotpAuthenticatorTable {
  user_id: UserId;
  /** Base32, sealed. */
  sealed_secret: SealedText;
  /** The last accepted time step: it and earlier ones are never accepted again. */
  last_step: number;
  created_at: number;
}

/** One of the ten codes for a lost second factor. */
export interface RecoveryCodeTable {
  id: string;
  user_id: UserId;
  /** SHA-256 (base64url); the codes have 80 bits, so a slow hash is not needed. */
  code_hash: Sha256;
  created_at: number;
  used_at: number | null;
}

/** A browser on which the second factor is skipped for a while. */
export interface RememberedDeviceTable {
  id: string;
  user_id: UserId;
  secret_hash: Sha256;
  /** Invalid after a later change of the password. */
  password_epoch: number;
  user_agent: string;
  ip: string;
  created_at: number;
  last_used_at: number;
  expires_at: number;
}

/** An operator's reset of a second factor: it takes effect after a while, unless the user cancels it. */
export interface FactorResetTable {
  id: string;
  user_id: UserId;
  /** SHA-256 of the token in the cancel links. */
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
  /** The user's name for it. */
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

/** A change of a user's address, which the owner of the former one can undo for a while (`security.md`, rule 14). */
export interface EmailChangeTable {
  id: string;
  user_id: UserId;
  old_email: NormalisedEmail;
  new_email: NormalisedEmail;
  /** SHA-256 of the token in the undo link. */
  undo_hash: Sha256;
  changed_at: number;
  undo_until: number;
  undone_at: number | null;
}

/** A requested deletion. The row stays when all other data of the user are erased. */
export interface AccountDeletionTable {
  user_id: UserId;
  requested_at: number;
  due_at: number;
  done_at: number | null;
  /** How the paid membership ends: at-once, period-end, period-end:<next plan>; null: there was none that renews. */
  membership: string | null;
}
