/** The specification's NOMFA, SMS_MFA and SOFTWARE_TOKEN_MFA. */
export type MfaPreference = 'none' | 'sms' | 'totp';

/** One member as the product knows them. Times in milliseconds since the epoch. */
export interface User {
  id: string;
  email: string;
  emailVerified: boolean;
  phone: string | null;
  phoneVerified: boolean;
  passwordHash: string | null;
  /** With what a hash that another service made was made; null: it was made here, or there is none. */
  passwordProfile: string | null;
  /** How often the password has been set anew: what was given out under an earlier one is void. */
  passwordEpoch: number;
  givenName: string;
  familyName: string;
  /** The language that the member has chosen; null until then, and the browser's stands. */
  locale: string | null;
  acceptedTosVersion: number | null;
  acceptedTosAt: number | null;
  source: 'general' | 'appsumo' | 'appsumo_update';
  /** The plan that the member has (membership/ decides it); null: none. */
  planId: string | null;
  /** Until when the member has what a trial gives. */
  trialUntil: number | null;
  /** A partner's plan that waits for the member's Confirm. */
  offeredPlanId: string | null;
  /** When the member, who did not want that plan yet, is asked again; null: now. */
  dealAgainAt: number | null;
  picture: string | null;
  /** ISO 8601 date. */
  birthdate: string | null;
  address: string | null;
  companyName: string | null;
  jobTitle: string | null;
  preferredLanguage: string | null;
  /** The specification's default '0': not said. */
  gender: string;
  newsletter: boolean;
  /** Which second factor is asked for at the sign-in. */
  mfaPreference: MfaPreference;
  /** A provider of the member demands a second factor here. */
  secondFactorRequired: boolean;
  disabledAt: number | null;
  /** When the member came from another service; null: they signed up here. */
  importedAt: number | null;
  createdAt: number;
  updatedAt: number;
}

export interface NewUser {
  email: string;
  emailVerified?: boolean;
  phone?: string | null;
  phoneVerified?: boolean;
  passwordHash: string | null;
  givenName?: string;
  familyName?: string;
  locale?: string | null;
  acceptedTosVersion?: number | null;
  planId?: string | null;
  source?: User['source'];
}

/** Of a given or family name. */
export const maxNameLength = 100;
/** As many as the longest address has (RFC 5321); no number has more. */
export const maxIdentifierLength = 254;
/** The specification's pattern: + and at least 3 digits. */
const phonePattern = /^\+\d{3,15}$/;
/** What browsers accept in an e-mail field (HTML, section 4.10.5.1.5). */
const emailPattern =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;

/** An address as it is stored and compared: trimmed, lower case; undefined when it is none. */
export function normaliseEmail(text: string): string | undefined {
  const typed = text.trim();
  // Before the case is changed: the Kelvin sign's lower case is a plain k, and two spellings must not be one account.
  if (!/^[\x21-\x7e]*$/.test(typed)) return undefined;
  const email = typed.toLowerCase();
  return email.length <= maxIdentifierLength && emailPattern.test(email) ? email : undefined;
}

/** A number as it is stored: E.164; the usual separators are dropped. Undefined when it is none. */
export function normalisePhone(text: string): string | undefined {
  const phone = text.trim().replace(/[\s().\-/]/g, '');
  return phonePattern.test(phone) ? phone : undefined;
}

/** What a member types to sign in: an e-mail address or a phone number. */
export function parseIdentifier(text: string): { email: string } | { phone: string } | undefined {
  const phone = normalisePhone(text);
  if (phone) return { phone };
  const email = normaliseEmail(text);
  return email ? { email } : undefined;
}

/**
 * What was typed to name a member, as it is counted and compared whether or not there is one: all spellings of an address
 * or number are one.
 */
export function toAccountKey(typed: string): string {
  const identifier = parseIdentifier(typed);
  return identifier ? Object.values(identifier).join() : typed.trim().toLowerCase();
}

/** Given and family name; undefined when there is neither. */
export function toName(user: Pick<User, 'givenName' | 'familyName'>): string | undefined {
  return [user.givenName, user.familyName].filter(Boolean).join(' ') || undefined;
}

/** For pages and other services that need some name: the address where there is none. Never for claims. */
export function fullName(user: Pick<User, 'givenName' | 'familyName' | 'email'>): string {
  return toName(user) ?? user.email;
}
