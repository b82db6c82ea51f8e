import { mostNameCharacters, normalEmail } from '../../account/index.ts';
import { malformed } from '../../http/index.ts';
import { FederationRefusal, type UpstreamIdentity } from '../identity.ts';

/** No provider's names of people are longer (OpenID Connect Core 1.0, section 2: 255). */
const mostSubjectCharacters = 255;
/** As long as the address of a picture may be. */
const mostPictureCharacters = 2_000;

/** Whether it can name a person at a provider. */
export const isNameOfPerson = (said: unknown): said is string =>
  typeof said === 'string' && said !== '' && !malformed(said, mostSubjectCharacters);

/** @throws {FederationRefusal} invalid: without it nobody is named */
export function subjectOf(said: unknown): string {
  if (!isNameOfPerson(said)) throw new FederationRefusal('invalid', 'the answer names nobody');
  return said;
}

export function emailOf(said: unknown): string | undefined {
  return typeof said === 'string' ? normalEmail(said) : undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
/** They turn the direction of what stands behind them, so that a page shows another text than is there (Unicode, UAX #9). */
const bidiControls = /[\u202a-\u202e\u2066-\u2069]/g;

/** A name as a profile may hold it: a provider's text is nobody's HTML, but it may be endless or hold line breaks. */
function nameOf(said: unknown): string {
  if (typeof said !== 'string' || !said.isWellFormed()) return '';
  const name = said.replace(bidiControls, '').replace(controlCharacters, ' ').trim().slice(0, mostNameCharacters);
  // Half of a character may be left at its end.
  return name.replace(/[\ud800-\udbff]$/, '').trim();
}

export function namesOf(said: {
  given?: unknown;
  family?: unknown;
  /** What stands where the provider knows only one name. */
  whole?: unknown;
}): Pick<UpstreamIdentity, 'givenName' | 'familyName'> {
  const [givenName, familyName] = [nameOf(said.given), nameOf(said.family)];
  if (givenName !== '' || familyName !== '') return { givenName, familyName };
  const words = nameOf(said.whole).split(/\s+/);
  const last = words.length > 1 ? words.pop() : undefined;
  return { givenName: words.join(' '), familyName: last ?? '' };
}

export function pictureOf(said: unknown): string | undefined {
  if (typeof said !== 'string' || said.length > mostPictureCharacters) return undefined;
  return URL.parse(said)?.protocol === 'https:' ? said : undefined;
}

/** Whether an address is of one of the domains, which are in lower case. */
export function isOf(email: string | undefined, domains: readonly string[]): boolean {
  return email !== undefined && domains.includes(email.slice(email.lastIndexOf('@') + 1));
}
