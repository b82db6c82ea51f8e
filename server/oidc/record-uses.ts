import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Logger } from '../http/index.ts';
import { toClientId, toUserId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { recordUse } from './connected-app-store.ts';

/**
 * Records when a user's connected app last got tokens. A failure is only logged, so that the tokens are still issued.
 */
export function recordUses(
  provider: Provider,
  { db }: Database,
  { now, log }: { now: () => number; log: Logger },
): void {
  provider.on('grant.success', (ctx: KoaContextWithOIDC) => {
    const { client, account } = ctx.oidc;
    if (!client || !account) return;
    recordUse(db, { userId: toUserId(account.accountId), clientId: toClientId(client.clientId), nowMs: now() }).catch(
      (error: unknown) => log.warn({ err: error }, 'could not record the use of a connected app'),
    );
  });
}
