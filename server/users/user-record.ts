import type { Database } from '../store/index.ts';
import { toUserRecordJson, type UserRecordJson } from './user-record-json.ts';
import { findUserRecord } from './user-record-store.ts';
import { findUser } from './user-store.ts';

/** A member's user record as callers of the JSON API see it; undefined for a member without one, and for nobody. */
export async function getUserRecord(database: Database, userId: string): Promise<UserRecordJson | undefined> {
  const [user, record] = await Promise.all([findUser(database.db, userId), findUserRecord(database.db, userId)]);
  return user && record && toUserRecordJson(user, record);
}
