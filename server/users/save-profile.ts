import type { Request } from 'express';
import type { Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import type { ProfileField, TypedProfile } from './profile-rules.ts';
import type { User } from './user.ts';

/** The changes to a member's profile that a call sends. */
export interface SentProfile {
  req: Request;
  typed: TypedProfile;
  /** How the call names each field, for the faults. */
  names: Partial<Record<ProfileField, string>>;
  /** Other writes of the same transaction. */
  alongside?: (trx: Transaction<Schema>) => Promise<void>;
}

/**
 * Changes a profile by the rules of the form: the same checks, the same mail, the same limit. settings/ has it, which stands
 * above this module; `app.ts` hands it in.
 * @throws {HttpError} validation; tooMany
 */
export type SaveProfile = (user: User, sent: SentProfile) => Promise<void>;
