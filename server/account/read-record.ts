import type { Database } from '../store/index.ts';
import { findUserRecord } from './user-record-store.ts';
import { findUser } from './user-store.ts';
import { toWire, type WireRecord } from './wire-record.ts';

/** A member's user record as callers of the JSON API see it; undefined for a member without one, and for nobody. */
export async function readRecord(database: Database, userId: string): Promise<WireRecord | undefined> {
  const [user, record] = await Promise.all([findUser(database.db, userId), findUserRecord(database.db, userId)]);
  return user && record && toWire(user, record);
}
