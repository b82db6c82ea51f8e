import { acceptsBrowser, type Provider } from '../federation/index.ts';
import { parseIdentifier } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';
import type { PasswordRefusal } from './password-sign-in.ts';

export interface HomeRealm {
  provider: Provider;
  email: string;
}

/** To whose provider a typed address leads; undefined: to none, to none that takes this browser, or it is no address. */
export function findHomeRealm(
  { federation }: Pick<SignInDeps, 'federation'>,
  typed: string,
  userAgent: string | undefined,
): HomeRealm | undefined {
  const identifier = parseIdentifier(typed);
  if (!identifier || !('email' in identifier)) return undefined;
  const provider = federation.providers.forEmail(identifier.email);
  return provider && acceptsBrowser(provider, userAgent) ? { provider, email: identifier.email } : undefined;
}

/**
 * Whether an address of a provider's domain leads there after a refusal. A right password signs in, as everywhere; everything
 * else leads to the provider, whether the address is a member's or not and whether they have a password or not, so that
 * nobody learns it (docs/decisions/0010-company-addresses.md).
 */
export function redirectsToProvider(refusal: PasswordRefusal): boolean {
  switch (refusal.kind) {
    case 'empty':
      return refusal.password;
    case 'unknown-user':
    case 'wrong-password':
    case 'too-many':
      return true;
    case 'malformed':
    case 'disabled':
      return false;
  }
}
