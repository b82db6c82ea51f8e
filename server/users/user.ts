import { type E164, type NormalisedEmail, type PlanId, toE164, toNormalisedEmail } from '../shared/index.ts';
import type { Row } from '../store/index.ts';

/** The specification's NOMFA, SMS_MFA and SOFTWARE_TOKEN_MFA. */
export type MfaPreference = Row<'users'>['mfaPreference'];

type BooleanColumn = 'emailVerified' | 'phoneVerified' | 'newsletter' | 'secondFactorRequired';
type Columns = Omit<Row<'users'>, BooleanColumn | 'locale' | 'signedInEpoch' | 'phoneChangedAt'>;

/** One user. Times in milliseconds since the epoch. */
export interface User extends Columns, Record<BooleanColumn, boolean> {
  /** The user's language; null: none chosen, so the browser's applies. */
  locale: string | null;
}

export interface NewUser {
  email: NormalisedEmail;
  emailVerified?: boolean;
  phone?: E164 | null;
  phoneVerified?: boolean;
  passwordHash: string | null;
  givenName?: string;
  familyName?: string;
  locale?: string | null;
  zoneinfo?: string | null;
  acceptedTosVersion?: number | null;
  planId?: PlanId | null;
  source?: User['source'];
}

/** Maximum length of a given or family name. */
export const maxNameLength = 100;
/** The length of the longest address (RFC 5321); numbers are shorter. */
export const maxIdentifierLength = 254;
/** The specification's pattern: + and at least 3 digits. */
const phonePattern = /^\+\d{3,15}$/;
/** The pattern of browsers' e-mail fields (HTML, section 4.10.5.1.5). */
const emailPattern =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;

/** The stored form of an address: trimmed, lower case; undefined if it is invalid. */
export function normaliseEmail(text: string): NormalisedEmail | undefined {
  const typed = text.trim();
  // Before the change of case: the Kelvin sign's lower case is a plain k, and two spellings must not be one account.
  if (!/^[\x21-\x7e]*$/.test(typed)) return undefined;
  const email = typed.toLowerCase();
  return email.length <= maxIdentifierLength && emailPattern.test(email) ? toNormalisedEmail(email) : undefined;
}

/** The stored form of a number: E.164, without the usual separators. Undefined if it is invalid. */
export function normalisePhone(text: string): E164 | undefined {
  const phone = text.trim().replace(/[\s().\-/]/g, '');
  return phonePattern.test(phone) ? toE164(phone) : undefined;
}

/** A sign-in name in its stored form. */
export type UserIdentifier = { email: NormalisedEmail } | { phone: E164 };

/** Parses a user's sign-in name: an e-mail address or a phone number. */
export function parseIdentifier(text: string): UserIdentifier | undefined {
  const phone = normalisePhone(text);
  if (phone) return { phone };
  const email = normaliseEmail(text);
  return email ? { email } : undefined;
}

/**
 * The key of a typed name, for counting and comparing whether or not the user exists: all spellings of an address or
 * number have the same key.
 */
export function toAccountKey(typed: string): string {
  const identifier = parseIdentifier(typed);
  return identifier ? Object.values(identifier).join() : typed.trim().toLowerCase();
}

/** Given and family name; undefined if there is neither. */
export function toName(user: Pick<User, 'givenName' | 'familyName'>): string | undefined {
  return [user.givenName, user.familyName].filter(Boolean).join(' ') || undefined;
}

/** For pages and services that need some name: the address if there is none. Never for claims. */
export function fullName(user: Pick<User, 'givenName' | 'familyName' | 'email'>): string {
  return toName(user) ?? user.email;
}

/** A version of the terms of service. */
export interface TermsVersion {
  number: number;
  label: string;
  /** The day of the change, as in 2026-11-01, if the operator has named it. */
  date?: string;
}

/** Tests whether a user must accept the terms (again): never accepted, or an older version than the current one. */
export function mustAcceptTerms(user: Pick<User, 'acceptedTosVersion'>, current: TermsVersion): boolean {
  return user.acceptedTosVersion === null || current.number > user.acceptedTosVersion;
}

/** A provider of the user requires a second factor, and the user has none: no other page is open until then. */
export const mustSetUpSecondFactor = ({
  secondFactorRequired,
  mfaPreference,
}: Pick<User, 'secondFactorRequired' | 'mfaPreference'>): boolean => secondFactorRequired && mfaPreference === 'none';

/** A step of a signed-in user that comes before every page. */
export type OpenStep = 'confirm-email' | 'accept-terms' | 'set-up-second-factor';

/**
 * The first open step of a user; undefined: none.
 * @param terms the current version; undefined: the requested page is open before they are accepted
 */
export function findOpenStep(
  user: Pick<User, 'emailVerified' | 'acceptedTosVersion' | 'secondFactorRequired' | 'mfaPreference'>,
  terms: TermsVersion | undefined,
): OpenStep | undefined {
  if (!user.emailVerified) return 'confirm-email';
  if (terms && mustAcceptTerms(user, terms)) return 'accept-terms';
  return mustSetUpSecondFactor(user) ? 'set-up-second-factor' : undefined;
}

/** Another user already has this address or number. */
export class AlreadyInUseError extends Error {
  override name = 'Taken';
  readonly what: 'email' | 'phone';
  constructor(what: 'email' | 'phone') {
    super(`another member has this ${what} already`);
    this.what = what;
  }
}

/** Uploaded pictures are below this folder of the address of pictures. */
export const uploadFolder = 'uploads';

/** The base address of the users' pictures. */
export interface Media {
  url: string;
  /** Foyer serves them itself, on the host of its own pages. */
  isLocal: boolean;
  /** Only those that users have uploaded: there is no folder of others. */
  onlyUploads?: boolean;
}

/** Encodes an object's name as a path, because its characters may have a meaning in an address. */
export const toImagePath = (name: string): string =>
  URL.canParse(name) ? name : name.split('/').map(encodeURIComponent).join('/');

/** Users choose both names themselves: on this host they must not address a page that acts. */
export function pictureUrl(picture: string | null, media: Media | undefined): string | undefined {
  if (picture === null || picture === '' || media === undefined) return undefined;
  // The media address may have a path: relative names are below it.
  const base = new URL(media.url.endsWith('/') ? media.url : `${media.url}/`);
  const url = URL.parse(picture, base);
  if (url?.origin !== base.origin) return undefined;
  const folder = media.onlyUploads ? `${base.pathname}${uploadFolder}/` : base.pathname;
  return media.isLocal && !url.pathname.startsWith(folder) ? undefined : url.href;
}
