import { acceptsBrowser, type Provider } from '../federation/index.ts';
import type { NormalisedEmail } from '../shared/index.ts';
import { parseIdentifier } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';
import type { PasswordRefusal } from './sign-in-state.ts';

export interface HomeRealm {
  provider: Provider;
  email: NormalisedEmail;
}

/**
 * The provider of a typed address; undefined if there is none, if it does not support this browser, or if the text is
 * no address.
 */
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
 * Tests whether an address of a provider's domain leads to the provider after this refusal. A right password always
 * signs in. Everything else leads to the provider, whether the user exists or not and whether they have a password or
 * not, so that the answer reveals nothing (docs/decisions/0010-company-addresses.md).
 */
export const redirectsToProvider = ({ kind }: PasswordRefusal): boolean => kind !== 'disabled';
