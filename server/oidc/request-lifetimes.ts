import type { Interaction } from 'oidc-provider';
import type { KeyValueStore } from '../store/index.ts';
import { toPushedId } from './authorization-requests.ts';
import { pendingTtlMs } from './pending-authorizations.ts';
import { keyOfRecord, pushedRequestKey } from './short-lived-adapter.ts';

/** Data of a request live as long as its record in pending-authorizations.ts. */
export async function keepAsLong(
  kv: KeyValueStore,
  interaction: Pick<Interaction, 'uid'>,
  ttlMs: number,
): Promise<void> {
  if (ttlMs < pendingTtlMs) await kv.expire(keyOfRecord('Interaction', interaction.uid), ttlMs);
  const pushed = toPushedId(interaction);
  // A pushed request is marked as used only when the request is answered; without this it would expire after 60
  // seconds.
  if (pushed !== undefined) await kv.expire(pushedRequestKey(pushed), ttlMs);
}
