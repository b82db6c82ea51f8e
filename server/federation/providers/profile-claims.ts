import { isMalformed } from '../../http/index.ts';
import type { NormalisedEmail } from '../../shared/index.ts';
import { maxNameLength, normaliseEmail } from '../../users/index.ts';
import { FederationError, type UpstreamIdentity } from '../identity.ts';

/** No provider has longer subjects (OpenID Connect Core 1.0, section 2: 255). */
const maxSubjectCharacters = 255;
/** Maximum length of a picture's address. */
const maxPictureCharacters = 2_000;

/** Tests whether it can be a subject identifier. */
export const isNameOfPerson = (claims: unknown): claims is string =>
  typeof claims === 'string' && claims !== '' && !isMalformed(claims, maxSubjectCharacters);

/** @throws {FederationError} invalid: there is no valid subject */
export function toSubject(claims: unknown): string {
  if (!isNameOfPerson(claims)) throw new FederationError('invalid', 'response without a subject');
  return claims;
}

/** A claim that is true or false; some providers send it as a text (Amazon Cognito: `email_verified`). */
export function readFlag(claim: unknown): boolean | undefined {
  if (claim === true || claim === 'true') return true;
  return claim === false || claim === 'false' ? false : undefined;
}

export function toEmail(claims: unknown): NormalisedEmail | undefined {
  return typeof claims === 'string' ? normaliseEmail(claims) : undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
/**
 * Characters that change the direction of the text after them, so that a page shows other text than it contains
 * (Unicode, UAX #9).
 */
const bidiControls = /[\u202a-\u202e\u2066-\u2069]/g;

/** Normalizes a name for the profile: a provider's text may be too long or contain line breaks. */
function toName(claims: unknown): string {
  if (typeof claims !== 'string' || !claims.isWellFormed()) return '';
  const name = claims.replace(bidiControls, '').replace(controlCharacters, ' ').trim().slice(0, maxNameLength);
  // The cut may leave half of a surrogate pair.
  return name.replace(/[\ud800-\udbff]$/, '').trim();
}

export function toNames(claims: {
  input?: unknown;
  family?: unknown;
  /** The whole name, if the provider gives only one. */
  whole?: unknown;
}): Pick<UpstreamIdentity, 'givenName' | 'familyName'> {
  const [givenName, familyName] = [toName(claims.input), toName(claims.family)];
  if (givenName !== '' || familyName !== '') return { givenName, familyName };
  const words = toName(claims.whole).split(/\s+/);
  const last = words.length > 1 ? words.pop() : undefined;
  return { givenName: words.join(' '), familyName: last ?? '' };
}

export function toPictureUrl(claims: unknown): string | undefined {
  if (typeof claims !== 'string' || claims.length > maxPictureCharacters) return undefined;
  return URL.parse(claims)?.protocol === 'https:' ? claims : undefined;
}

/** Tests whether an address is in one of the domains, which are in lower case. */
export function isOfDomain(email: NormalisedEmail | undefined, domains: readonly string[]): boolean {
  return email !== undefined && domains.includes(email.slice(email.lastIndexOf('@') + 1));
}
