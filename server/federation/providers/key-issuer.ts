import type { JWTPayload } from 'jose';
import { FederationError } from '../identity.ts';

const placeholder = '{tenantid}';

/** Microsoft's address for all tenants puts the tenant of the token in place of this part of its issuer. */
export const issuerFor = (issuer: string, { tid }: JWTPayload): string =>
  typeof tid === 'string' ? issuer.replace(placeholder, () => tid) : issuer;

/**
 * Microsoft publishes the keys of all tenants at one address and names with some of them the issuer that they sign for:
 * the key for personal accounts must not sign for a company.
 * @param provider its issuer, and its keys (RFC 7517)
 * @param kid of the key that has signed
 * @throws {FederationError} invalid
 */
export function refuseForeignKey(
  { issuer, keys }: { issuer: string; keys: readonly object[] | undefined },
  kid: unknown,
  claims: JWTPayload,
): void {
  if (!issuer.includes(placeholder)) return;
  const foreign = keys?.some(
    (key) =>
      'issuer' in key &&
      typeof key.issuer === 'string' &&
      (kid === undefined || ('kid' in key && key.kid === kid)) &&
      issuerFor(key.issuer, claims) !== claims.iss,
  );
  if (foreign) throw new FederationError('invalid', 'signed by the key of another issuer');
}
