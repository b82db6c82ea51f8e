import { z } from 'zod';
import type { NextPage } from '../http/index.ts';
import type { UpstreamSession } from '../sessions/index.ts';
import { type FlowId, minuteMs, type ProviderId, providerIdSchema } from '../shared/index.ts';
import { browserRecords, type KeyValueStore, type SecretBox } from '../store/index.ts';
import type { Providers } from './providers.ts';
import { startPageSignedOut } from './sign-in-notices.ts';

const schema = z.object({
  provider: providerIdSchema,
  /** The provider's response must refer to this. */
  requestId: z.string(),
  /** The address after the logout; undefined: a page of this site. */
  returnTo: z.string().optional(),
});

/** A browser that is signed out here, and is also signing out at its provider. */
type PendingLogout = z.infer<typeof schema>;

export interface PendingLogouts {
  /** For RelayState. */
  newId(): FlowId;
  put(id: FlowId, deletion: PendingLogout): Promise<void>;
  take(id: FlowId, provider: ProviderId): Promise<PendingLogout | undefined>;
}

export function createPendingLogouts({ kv, box }: { kv: KeyValueStore; box: SecretBox }): PendingLogouts {
  const records = browserRecords({ kv, kind: 'federation-leaving', schema, ttlMs: 15 * minuteMs, seal: box });
  return {
    newId: records.newId,
    put: (id, deletion) => records.write(id, deletion),
    async take(id, provider) {
      const deletion = await records.takeOnce(id);
      return deletion?.provider === provider ? deletion : undefined;
    },
  };
}

/**
 * The next address of a browser that has just been signed out here from a federated session: the provider if it has
 * single logout, else the address after the logout.
 * @param returnTo a client app's address; undefined: a page of this site
 */
export async function upstreamLogoutUrl(
  { providers, pendingLogouts }: { providers: Providers; pendingLogouts: PendingLogouts },
  upstream: UpstreamSession,
  returnTo: string | undefined,
): Promise<{ next: NextPage; providerName?: string }> {
  const provider = providers.byId(upstream.provider);
  if (!provider) return { next: returnTo ?? '/' };
  if (!provider.saml?.logout || !upstream.saml) return { next: returnTo ?? startPageSignedOut(provider) };
  const id = pendingLogouts.newId();
  const { url, requestId } = await provider.saml.logout.ask(upstream.saml, id);
  await pendingLogouts.put(id, { provider: provider.id, requestId, returnTo });
  return { next: url, providerName: provider.name };
}

/**
 * The name of a session's provider, and whether a logout here also ends the session there; undefined: it is no longer
 * configured.
 */
export function endsAtProvider(
  { providers }: { providers: Providers },
  { provider: id, saml }: UpstreamSession,
): { name: string; ends: boolean } | undefined {
  const provider = providers.byId(id);
  return provider && { name: provider.name, ends: provider.saml?.logout !== undefined && saml !== undefined };
}
