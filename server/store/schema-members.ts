import type { NormalisedEmail, SealedText, Sha256, UserId } from '../shared/index.ts';

/** Tables of data that users manage themselves: factors, passkeys, addresses, deletion. See `schema.ts`. */

/** A user's authenticator app (RFC 6238). Only activated ones have a row. */
export interface TotpAuthenticatorTable {
  userId: UserId;
  /** Base32, sealed. */
  sealedSecret: SealedText;
  /** The last accepted time step: it and earlier ones are never accepted again. */
  lastStep: number;
  createdAt: number;
}

/** One of the ten codes for a lost second factor. */
export interface RecoveryCodeTable {
  id: string;
  userId: UserId;
  /** SHA-256 (base64url); the codes have 80 bits, so a slow hash is not needed. */
  codeHash: Sha256;
  createdAt: number;
  usedAt: number | null;
}

/** A browser on which the second factor is skipped for a while. */
export interface RememberedDeviceTable {
  id: string;
  userId: UserId;
  secretHash: Sha256;
  /** Invalid after a later change of the password. */
  passwordEpoch: number;
  userAgent: string;
  ip: string;
  createdAt: number;
  lastUsedAt: number;
  expiresAt: number;
}

/** An operator's reset of a second factor: it takes effect after a while, unless the user cancels it. */
export interface FactorResetTable {
  id: string;
  userId: UserId;
  /** SHA-256 of the token in the cancel links. */
  tokenHash: Sha256;
  state: 'waiting' | 'cancelled' | 'done';
  requestedAt: number;
  dueAt: number;
  endedAt: number | null;
}

/** A passkey (WebAuthn level 3). */
export interface PasskeyTable {
  /** Credential id, base64url. */
  id: string;
  userId: UserId;
  /** The user's name for it. */
  name: string;
  /** COSE key, base64url. */
  publicKey: string;
  counter: number;
  /** Separated by spaces. */
  transports: string;
  aaguid: string;
  backedUp: number;
  createdAt: number;
  lastUsedAt: number | null;
}

/** A change of a user's address, which the owner of the former one can undo for a while (`security.md`, rule 14). */
export interface EmailChangeTable {
  id: string;
  userId: UserId;
  oldEmail: NormalisedEmail;
  newEmail: NormalisedEmail;
  /** SHA-256 of the token in the undo link. */
  undoHash: Sha256;
  changedAt: number;
  undoUntil: number;
  undoneAt: number | null;
}

/** A requested deletion. The row stays when all other data of the user are erased. */
export interface AccountDeletionTable {
  userId: UserId;
  requestedAt: number;
  dueAt: number;
  doneAt: number | null;
  /** How the paid membership ends: at-once, period-end, period-end:<next plan>; null: there was none that renews. */
  membership: string | null;
}
