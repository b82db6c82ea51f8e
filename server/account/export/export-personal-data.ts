import type { User } from '../../users/index.ts';
import type { DeletionDeps } from '../deletion/deletion-deps.ts';

/**
 * All stored data of a user, as one JSON object: each module's part under its name. Times are milliseconds since the
 * epoch.
 */
export async function exportPersonalData(
  { personalDataSources, publicUrl, now }: Pick<DeletionDeps, 'personalDataSources' | 'publicUrl' | 'now'>,
  user: User,
): Promise<Record<string, unknown>> {
  const parts = await Promise.all(
    personalDataSources.map(async ({ name, exportData }) => [name, await exportData(user)] as const),
  );
  return { from: publicUrl, exportedAt: now(), member: user.id, ...Object.fromEntries(parts) };
}
