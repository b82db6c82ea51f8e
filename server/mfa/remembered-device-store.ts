import type { UserId } from '../shared/index.ts';
import type { Db, Row } from '../store/index.ts';

/** A browser on which the second factor is skipped for a while. Times in milliseconds since the epoch. */
export type RememberedDevice = Row<'rememberedDevices'>;

export async function insertRememberedDevice(db: Db, device: RememberedDevice): Promise<void> {
  await db.insertInto('rememberedDevices').values(device).execute();
}

/** Deletes a user's devices beyond the `max` that were used last. */
export async function keepNewestRememberedDevices(db: Db, userId: UserId, max: number): Promise<void> {
  await db
    .deleteFrom('rememberedDevices')
    .where('userId', '=', userId)
    .where('id', 'not in', (from) =>
      from
        .selectFrom('rememberedDevices as kept')
        .select('kept.id')
        .where('kept.userId', '=', userId)
        .orderBy('kept.lastUsedAt', 'desc')
        .orderBy('kept.id', 'desc')
        .limit(max),
    )
    .execute();
}

/** A device that has not expired. */
export async function findRememberedDevice(db: Db, id: string, nowMs: number): Promise<RememberedDevice | undefined> {
  return db
    .selectFrom('rememberedDevices')
    .selectAll()
    .where('id', '=', id)
    .where('expiresAt', '>', nowMs)
    .executeTakeFirst();
}

export async function recordRememberedDeviceUse(
  db: Db,
  id: string,
  { ip, userAgent, nowMs }: { ip: string; userAgent: string; nowMs: number },
): Promise<void> {
  await db.updateTable('rememberedDevices').set({ ip, userAgent, lastUsedAt: nowMs }).where('id', '=', id).execute();
}

/** The unexpired devices of a user, the most recently used first. */
export async function listRememberedDevices(
  db: Db,
  { id, passwordEpoch }: { id: UserId; passwordEpoch: number },
  nowMs: number,
): Promise<RememberedDevice[]> {
  return db
    .selectFrom('rememberedDevices')
    .selectAll()
    .where('userId', '=', id)
    .where('passwordEpoch', '=', passwordEpoch)
    .where('expiresAt', '>', nowMs)
    .orderBy('lastUsedAt', 'desc')
    .execute();
}

/** Deletes all devices of a user, or one of them. @returns the number */
export async function forgetRememberedDevices(db: Db, userId: UserId, id?: string): Promise<number> {
  let of = db.deleteFrom('rememberedDevices').where('userId', '=', userId);
  if (id !== undefined) of = of.where('id', '=', id);
  return Number((await of.executeTakeFirst()).numDeletedRows);
}

/** Deletes the devices of all users. @returns the number */
export async function forgetEveryDevice(db: Db): Promise<number> {
  return Number((await db.deleteFrom('rememberedDevices').executeTakeFirst()).numDeletedRows);
}

/** Deletes expired devices, at most `max` rows. @returns the number */
export async function sweepRememberedDevices(db: Db, nowMs: number, max: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('rememberedDevices')
    .where('id', 'in', (from) =>
      from.selectFrom('rememberedDevices').select('id').where('expiresAt', '<=', nowMs).limit(max),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
