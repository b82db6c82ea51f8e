import type { Interaction } from 'oidc-provider';
import type { KeyValueStore } from '../store/index.ts';
import { toPushedId } from './authorization-requests.ts';
import { pendingTtlMs } from './pending-authorizations.ts';
import { keyOfRecord, pushedRequestKey } from './short-lived-adapter.ts';

/** Data of a request live as long as its row in pending-authorizations.ts. */
export async function keepAsLong(
  kv: KeyValueStore,
  interaction: Pick<Interaction, 'uid'>,
  ttlMs: number,
): Promise<void> {
  if (ttlMs < pendingTtlMs) await kv.expire(keyOfRecord('Interaction', interaction.uid), ttlMs);
  const pushed = toPushedId(interaction);
  // It is marked as used only when the request is answered, and is kept for 60 seconds until somebody opens it.
  if (pushed !== undefined) await kv.expire(pushedRequestKey(pushed), ttlMs);
}
