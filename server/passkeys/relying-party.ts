/** The owner of passkeys (WebAuthn level 3, section 4, Relying Party Identifier). */
export interface RelyingParty {
  /** Only the host of PUBLIC_URL: a parent domain would share the passkeys with every other app under it. */
  id: string;
  /** The origin where passkeys are created and used: scheme, host and port. */
  origin: string;
}

/**
 * Undefined if browsers do not support passkeys here: without https except on localhost, and on IP addresses, which are
 * not valid relying party ids.
 */
export function toRelyingParty(publicUrl: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const local = hostname === 'localhost' || hostname.endsWith('.localhost');
  const named = !hostname.startsWith('[') && !/^\d+(\.\d+){3}$/.test(hostname);
  return local || (protocol === 'https:' && named) ? { id: hostname, origin } : undefined;
}
