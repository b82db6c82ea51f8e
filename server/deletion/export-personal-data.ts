import type { User } from '../users/index.ts';
import type { DeletionDeps } from './deps.ts';

/**
 * Everything that is stored of a member, as one JSON object: each room's part under its name. Times in it are milliseconds
 * since the epoch.
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
