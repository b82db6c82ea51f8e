import type { Request } from 'express';
import type { Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import type { ProfileField, TypedProfile } from './profile-fields.ts';
import type { User } from './user.ts';

/** The changes to a user's profile from a call. */
interface SentProfile {
  req: Request;
  typed: TypedProfile;
  /** The call's name of each field, for the faults. */
  names: Partial<Record<ProfileField, string>>;
  /** Valid, or null for none. */
  preferredLanguage?: string | null;
  /** Other writes of the same transaction. */
  alongside?: (trx: Transaction<Schema>) => Promise<void>;
}

/**
 * Changes a profile by the rules of the form: the same checks, mail and limit. account/ implements it in a higher
 * layer; `app.ts` injects it.
 * @throws {HttpError} validation; tooMany
 */
export type SaveProfile = (user: User, sent: SentProfile) => Promise<void>;
