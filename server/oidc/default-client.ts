import type { Database } from '../store/index.ts';
import { clientMetadata } from './client-metadata.ts';
import { createClientSecret, insertClient } from './client-store.ts';

/**
 * The marketplace's own web client, in whose name members get token cookies. It is made where it is missing; what an
 * operator changed stays. Nobody knows its secret, so nobody but this server can redeem what is given in its name.
 */
export async function ensureDefaultClient(
  database: Database,
  { id, name, publicUrl, development }: { id: string; name: string; publicUrl: string; development: boolean },
  nowMs: number,
): Promise<void> {
  const client = clientMetadata({ id, name, redirectUris: [`${publicUrl}/`] }, { development });
  await insertClient(database.db, client, createClientSecret(), nowMs);
}
