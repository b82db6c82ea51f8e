import type { Database } from '../store/index.ts';
import { clientMetadata } from './client-registration.ts';
import { createClientSecret, insertClient } from './client-store.ts';

/**
 * The marketplace's own web client, which owns the token cookies of users. Created if it is missing; an operator's
 * changes stay. Its secret is discarded, so only this server can redeem what is issued to it.
 */
export async function ensureDefaultClient(
  database: Database,
  { id, name, publicUrl, development }: { id: string; name: string; publicUrl: string; development: boolean },
  nowMs: number,
): Promise<void> {
  const client = clientMetadata({ id, name, redirectUris: [`${publicUrl}/`] }, { development });
  await insertClient(database.db, client, { secret: createClientSecret(), nowMs });
}
