/** What a passkey belongs to (WebAuthn level 3, section 4, Relying Party Identifier). */
export interface RelyingParty {
  /** The host of PUBLIC_URL alone: a parent domain would share the passkeys with every other app under it. */
  id: string;
  /** Where passkeys are made and used: scheme, host and port. */
  origin: string;
}

/**
 * Undefined where browsers have no passkeys: without https anywhere but on localhost, and on addresses without a name (an
 * IP address is no identifier of a relying party).
 */
export function toRelyingParty(publicUrl: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const local = hostname === 'localhost' || hostname.endsWith('.localhost');
  const named = !hostname.startsWith('[') && !/^\d+(\.\d+){3}$/.test(hostname);
  return local || (protocol === 'https:' && named) ? { id: hostname, origin } : undefined;
}
