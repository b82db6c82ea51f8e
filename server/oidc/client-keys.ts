import { z } from 'zod';

/**
 * Algorithms of client assertions (RFC 7523): only asymmetric ones, so that Foyer stores nothing that could sign an
 * assertion.
 */
export const clientAssertionAlgorithms = ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'] as const;

/** A JSON Web Key Set of public keys (RFC 7517, section 5). */
export interface PublicKeySet {
  keys: Record<string, unknown>[];
}

/** Members of a JWK that make it a private or symmetric key (RFC 7518, sections 6.2.2, 6.3.2 and 6.4). */
const privateMembers = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];
const maxKeys = 20;

const keySet = z.object({ keys: z.array(z.record(z.string(), z.unknown())).min(1).max(maxKeys) });

export const keySetFormat = `write a JSON Web Key Set: {"keys": [...]} with 1 to ${maxKeys} keys`;

export const isKeySet = (value: unknown): value is PublicKeySet => keySet.safeParse(value).success;

/** @returns the fault of a client's key set, in words for the operator; undefined if there is none */
function keySetFault(value: unknown): string | undefined {
  const { data } = keySet.safeParse(value);
  if (!data) return keySetFormat;
  for (const key of data.keys) {
    const secret = privateMembers.find((name) => name in key);
    if (secret !== undefined) return `has a private key (member "${secret}"): write the public keys alone`;
    if (!['EC', 'RSA', 'OKP'].includes(String(key.kty)))
      return `has a key of kty ${String(key.kty)}: write EC, RSA or OKP`;
  }
  return undefined;
}

/** The part of a registration for the client authentication. */
interface KeyRequest {
  jwks?: PublicKeySet;
  jwksUri?: string;
  public?: boolean;
  native?: boolean;
}

export const hasKeys = ({ jwks, jwksUri }: KeyRequest): boolean => jwks !== undefined || jwksUri !== undefined;

/** @returns all faults of the keys in a registration, in words for the operator */
export function keyFaults(request: KeyRequest): string[] {
  const { jwks, jwksUri } = request;
  const fault = jwks === undefined ? undefined : keySetFault(jwks);
  return [
    ...(fault === undefined ? [] : [`jwks: ${fault}`]),
    ...(jwks !== undefined && jwksUri !== undefined ? ['jwks: and jwks-uri: write one of them'] : []),
    ...(hasKeys(request) && (request.public || request.native)
      ? ['jwks: a public client does not authenticate: leave the keys or --public out']
      : []),
  ];
}
