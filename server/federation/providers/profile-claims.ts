import { isMalformed } from '../../http/index.ts';
import { maxNameLength, normaliseEmail } from '../../users/index.ts';
import { FederationError, type UpstreamIdentity } from '../identity.ts';

/** No provider's names of people are longer (OpenID Connect Core 1.0, section 2: 255). */
const maxSubjectCharacters = 255;
/** As long as the address of a picture may be. */
const maxPictureCharacters = 2_000;

/** Whether it can name a person at a provider. */
export const isNameOfPerson = (claims: unknown): claims is string =>
  typeof claims === 'string' && claims !== '' && !isMalformed(claims, maxSubjectCharacters);

/** @throws {FederationError} invalid: without it nobody is named */
export function toSubject(claims: unknown): string {
  if (!isNameOfPerson(claims)) throw new FederationError('invalid', 'the answer names nobody');
  return claims;
}

export function toEmail(claims: unknown): string | undefined {
  return typeof claims === 'string' ? normaliseEmail(claims) : undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
/** They turn the direction of what stands behind them, so that a page shows another text than is there (Unicode, UAX #9). */
const bidiControls = /[\u202a-\u202e\u2066-\u2069]/g;

/** A name as a profile may hold it: a provider's text is nobody's HTML, but it may be endless or hold line breaks. */
function toName(claims: unknown): string {
  if (typeof claims !== 'string' || !claims.isWellFormed()) return '';
  const name = claims.replace(bidiControls, '').replace(controlCharacters, ' ').trim().slice(0, maxNameLength);
  // Half of a character may be left at its end.
  return name.replace(/[\ud800-\udbff]$/, '').trim();
}

export function toNames(claims: {
  input?: unknown;
  family?: unknown;
  /** What stands where the provider knows only one name. */
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

/** Whether an address is of one of the domains, which are in lower case. */
export function isOfDomain(email: string | undefined, domains: readonly string[]): boolean {
  return email !== undefined && domains.includes(email.slice(email.lastIndexOf('@') + 1));
}
