import type { Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import type { User } from './user.ts';

/**
 * A module's stored data about a user: exported on request, and erased with the account. One list for both, so that
 * they cannot differ.
 */
export interface PersonalDataSource {
  /** Its name in the exported file. */
  name: string;
  /** As JSON, in the names of the specification if there are any. For secrets only their existence and time. */
  exportData(user: User): Promise<unknown>;
  erase(trx: Transaction<Schema>, user: User, nowMs: number): Promise<void>;
}
