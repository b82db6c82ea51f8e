import type { UpstreamSession } from '../session/index.ts';
import { randomToken, sha256 } from '../shared/index.ts';
import type { KeyValueStore, SecretBox } from '../store/index.ts';
import { signedOutPath } from './notices.ts';
import type { Providers } from './providers.ts';

/** A browser that is signed out here, and on its way to sign out at its provider, too. */
export interface Leaving {
  provider: string;
  /** The provider's answer must be to this. */
  requestId: string;
  /** Where signing out would have led; undefined: a page of ours. */
  returnTo: string | undefined;
}

export interface Leavings {
  /** @returns its id, for RelayState */
  put(id: string, leaving: Leaving): Promise<void>;
  newId(): string;
  take(id: string, provider: string): Promise<Leaving | undefined>;
}

const leavingMs = 15 * 60_000;
const idPattern = /^[\w-]{43}$/;

export function createLeavings({ kv, box }: { kv: KeyValueStore; box: SecretBox }): Leavings {
  const keyOf = (id: string) => `federation-leaving:${sha256(id)}`;
  return {
    newId: () => randomToken(),
    put: (id, leaving) => kv.set(keyOf(id), box.seal(JSON.stringify(leaving), keyOf(id)), leavingMs),
    async take(id, provider) {
      const sealed = idPattern.test(id) ? await kv.take(keyOf(id)) : null;
      if (sealed === null) return undefined;
      const leaving = JSON.parse(box.open(sealed, keyOf(id))) as Leaving;
      return leaving.provider === provider ? leaving : undefined;
    },
  };
}

/**
 * Where the browser goes that has just been signed out here, out of a session that a provider began: to the provider, where
 * it has a single logout, else where signing out leads.
 * @param returnTo a client app's address; undefined: a page of ours
 */
export async function wayOut(
  { providers, leavings }: { providers: Providers; leavings: Leavings },
  upstream: UpstreamSession,
  returnTo: string | undefined,
): Promise<{ address: string; providerName?: string }> {
  const provider = providers.byId(upstream.provider);
  if (!provider) return { address: returnTo ?? '/' };
  if (!provider.saml?.logout || !upstream.saml) return { address: returnTo ?? signedOutPath(provider) };
  const id = leavings.newId();
  const { url, requestId } = await provider.saml.logout.ask(upstream.saml, id);
  await leavings.put(id, { provider: provider.id, requestId, returnTo });
  return { address: url, providerName: provider.name };
}

/** What the provider of a session is called, and whether signing out here signs out there, too; undefined: it is gone. */
export function endsThere(
  { providers }: { providers: Providers },
  { provider: id, saml }: UpstreamSession,
): { name: string; ends: boolean } | undefined {
  const provider = providers.byId(id);
  return provider && { name: provider.name, ends: provider.saml?.logout !== undefined && saml !== undefined };
}
