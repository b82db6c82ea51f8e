import type { Sha256, UserId } from '../shared/index.ts';
import type { Db, RememberedDeviceTable } from '../store/index.ts';

/** A browser on which the second factor is skipped for a while. Times in milliseconds since the epoch. */
export interface RememberedDevice {
  id: string;
  userId: UserId;
  /** SHA-256 of the secret in its cookie. */
  secretHash: Sha256;
  passwordEpoch: number;
  userAgent: string;
  ip: string;
  createdAt: number;
  lastUsedAt: number;
  expiresAt: number;
}

const fromRow = (row: RememberedDeviceTable): RememberedDevice => ({
  id: row.id,
  userId: row.user_id,
  secretHash: row.secret_hash,
  passwordEpoch: row.password_epoch,
  userAgent: row.user_agent,
  ip: row.ip,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  expiresAt: row.expires_at,
});

export async function insertRememberedDevice(db: Db, device: RememberedDevice): Promise<void> {
  await db
    .insertInto('remembered_devices')
    .values({
      id: device.id,
      user_id: device.userId,
      secret_hash: device.secretHash,
      password_epoch: device.passwordEpoch,
      user_agent: device.userAgent,
      ip: device.ip,
      created_at: device.createdAt,
      last_used_at: device.lastUsedAt,
      expires_at: device.expiresAt,
    })
    .execute();
}

/** Deletes a user's devices beyond the `max` that were used last. */
export async function keepNewestRememberedDevices(db: Db, userId: UserId, max: number): Promise<void> {
  await db
    .deleteFrom('remembered_devices')
    .where('user_id', '=', userId)
    .where('id', 'not in', (from) =>
      from
        .selectFrom('remembered_devices as kept')
        .select('kept.id')
        .where('kept.user_id', '=', userId)
        .orderBy('kept.last_used_at', 'desc')
        .orderBy('kept.id', 'desc')
        .limit(max),
    )
    .execute();
}

/** A device that has not expired. */
export async function findRememberedDevice(db: Db, id: string, nowMs: number): Promise<RememberedDevice | undefined> {
  const row = await db
    .selectFrom('remembered_devices')
    .selectAll()
    .where('id', '=', id)
    .where('expires_at', '>', nowMs)
    .executeTakeFirst();
  return row && fromRow(row);
}

export async function recordRememberedDeviceUse(
  db: Db,
  id: string,
  { ip, userAgent, nowMs }: { ip: string; userAgent: string; nowMs: number },
): Promise<void> {
  await db
    .updateTable('remembered_devices')
    .set({ ip, user_agent: userAgent, last_used_at: nowMs })
    .where('id', '=', id)
    .execute();
}

/** The unexpired devices of a user, the most recently used first. */
export async function listRememberedDevices(
  db: Db,
  { id, passwordEpoch }: { id: UserId; passwordEpoch: number },
  nowMs: number,
): Promise<RememberedDevice[]> {
  const rows = await db
    .selectFrom('remembered_devices')
    .selectAll()
    .where('user_id', '=', id)
    .where('password_epoch', '=', passwordEpoch)
    .where('expires_at', '>', nowMs)
    .orderBy('last_used_at', 'desc')
    .execute();
  return rows.map(fromRow);
}

/** Deletes all devices of a user, or one of them. @returns the number */
export async function forgetRememberedDevices(db: Db, userId: UserId, id?: string): Promise<number> {
  let of = db.deleteFrom('remembered_devices').where('user_id', '=', userId);
  if (id !== undefined) of = of.where('id', '=', id);
  return Number((await of.executeTakeFirst()).numDeletedRows);
}

/** Deletes expired devices, at most `max` rows. @returns the number */
export async function sweepRememberedDevices(db: Db, nowMs: number, max: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('remembered_devices')
    .where('id', 'in', (from) =>
      from.selectFrom('remembered_devices').select('id').where('expires_at', '<=', nowMs).limit(max),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
