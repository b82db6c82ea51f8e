import { isItemIn } from '../shared/index.ts';
import { knownScopes } from './scopes.ts';
import type { SigningAlgorithm } from './signing-keys.ts';

/** An API of the marketplace that verifies JWT access tokens itself (RFC 8707, RFC 9068). */
export interface ResourceServer {
  /** An absolute URI, compared exactly; the audience of its tokens. */
  identifier: string;
  scopes: string[];
  /** The signing algorithm of its tokens. */
  alg: SigningAlgorithm;
}

/** ES256 by default. */
export type NewResourceServer = Omit<ResourceServer, 'alg'> & { alg?: SigningAlgorithm };

/** The fault of an identifier, or undefined (RFC 8707, section 2). */
export function findIdentifierFault(identifier: string): string | undefined {
  const url = URL.parse(identifier);
  if (!url || /[\s\\]/.test(identifier) || identifier.length > 500) return 'is not an absolute URI';
  if (identifier.includes('#')) return 'must not have a fragment';
  if (url.username !== '' || url.password !== '') return 'must not name a user';
  return undefined;
}

const scopePattern = /^[A-Za-z0-9._:/-]{1,100}$/;

/** All faults of a registration together. */
export function resourceServerFaults({ identifier, scopes }: Pick<ResourceServer, 'identifier' | 'scopes'>): string[] {
  const fault = findIdentifierFault(identifier);
  return [
    ...(fault ? [`${identifier}: ${fault}`] : []),
    ...(scopes.length === 0 ? ['scope: write at least one'] : []),
    ...scopes.flatMap((scope) => {
      if (!scopePattern.test(scope)) return `scope ${scope}: write letters, digits, or . _ : / -`;
      // A scope of Foyer with the same name could be granted in one sense and used in the other.
      return isItemIn(knownScopes, scope) ? `scope ${scope}: is a name of Foyer's own` : [];
    }),
  ];
}
