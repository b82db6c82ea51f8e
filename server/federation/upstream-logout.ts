import { z } from 'zod';
import type { UpstreamSession } from '../sessions/index.ts';
import { minuteMs } from '../shared/index.ts';
import { browserRecords, type KeyValueStore, type SecretBox } from '../store/index.ts';
import type { Providers } from './providers.ts';
import { signedOutUrl } from './sign-in-notices.ts';

const schema = z.object({
  provider: z.string(),
  /** The provider's answer must be to this. */
  requestId: z.string(),
  /** Where signing out would have led; undefined: a page of ours. */
  returnTo: z.string().optional(),
});

/** A browser that is signed out here, and on its way to sign out at its provider, too. */
export type PendingLogout = z.infer<typeof schema>;

export interface PendingLogouts {
  /** For RelayState. */
  newId(): string;
  put(id: string, deletion: PendingLogout): Promise<void>;
  take(id: string, provider: string): Promise<PendingLogout | undefined>;
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
 * Where the browser goes that has just been signed out here, out of a session that a provider began: to the provider, where
 * it has a single logout, else where signing out leads.
 * @param returnTo a client app's address; undefined: a page of ours
 */
export async function upstreamLogoutUrl(
  { providers, pendingLogouts }: { providers: Providers; pendingLogouts: PendingLogouts },
  upstream: UpstreamSession,
  returnTo: string | undefined,
): Promise<{ address: string; providerName?: string }> {
  const provider = providers.byId(upstream.provider);
  if (!provider) return { address: returnTo ?? '/' };
  if (!provider.saml?.logout || !upstream.saml) return { address: returnTo ?? signedOutUrl(provider) };
  const id = pendingLogouts.newId();
  const { url, requestId } = await provider.saml.logout.ask(upstream.saml, id);
  await pendingLogouts.put(id, { provider: provider.id, requestId, returnTo });
  return { address: url, providerName: provider.name };
}

/** What the provider of a session is called, and whether signing out here signs out there, too; undefined: it is gone. */
export function endsAtProvider(
  { providers }: { providers: Providers },
  { provider: id, saml }: UpstreamSession,
): { name: string; ends: boolean } | undefined {
  const provider = providers.byId(id);
  return provider && { name: provider.name, ends: provider.saml?.logout !== undefined && saml !== undefined };
}
