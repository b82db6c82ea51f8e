import type { UserId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { toUserRecordJson, type UserRecordJson } from './user-record-json.ts';
import { findUserRecord } from './user-record-store.ts';
import { findUser } from './user-store.ts';

/** A user's record for callers of the JSON API; undefined if there is no user or no record. */
export async function getUserRecord(database: Database, userId: UserId): Promise<UserRecordJson | undefined> {
  const [user, record] = await Promise.all([findUser(database.db, userId), findUserRecord(database.db, userId)]);
  return user && record && toUserRecordJson(user, record);
}
