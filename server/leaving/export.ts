import type { User } from '../account/index.ts';
import type { LeavingDeps } from './deps.ts';

/**
 * Everything that is stored of a member, as one JSON object: each room's part under its name. Times in it are milliseconds
 * since the epoch.
 */
export async function exportOf(
  { holdings, publicUrl, now }: Pick<LeavingDeps, 'holdings' | 'publicUrl' | 'now'>,
  user: User,
): Promise<Record<string, unknown>> {
  const parts = await Promise.all(holdings.map(async ({ name, tell }) => [name, await tell(user)] as const));
  return { from: publicUrl, exportedAt: now(), member: user.id, ...Object.fromEntries(parts) };
}
