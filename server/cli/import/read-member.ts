import type { LinkedSubject } from '../../federation/index.ts';
import { isMalformed, languages } from '../../http/index.ts';
import { type ImportedHashInput, isBelowFloor, ownProfile, parseImportedHash } from '../../password/index.ts';
import { toUserId, type UserId } from '../../shared/index.ts';
import {
  genders,
  type ImportedUser,
  isBirthdate,
  normaliseEmail,
  normalisePhone,
  type ProfileField,
  profileFields,
} from '../../users/index.ts';
import { type ProviderNames, readIdentities } from './read-identities.ts';
import type { SourceRow } from './source.ts';

export interface ReadSettings {
  nowMs: number;
  /** The current version of the terms: a later one cannot have been accepted. */
  termsVersion: number;
  smsOffered: boolean;
  /** The operator vouches for addresses without a statement. */
  verified: boolean;
  ignoreHashes: boolean;
  /** Fields that the operator has not switched on. */
  withheldFields: ReadonlySet<ProfileField>;
  /** The providers for the names in `identities`. */
  providerNames: ProviderNames;
}

export type ReadMember =
  | { member: ImportedUser; identities: LinkedSubject[]; notes: string[] }
  /** In words without data of the row. `id` if it is valid. */
  | { refused: string; id?: string };

/**
 * As in OpenID Connect, without characters that have a meaning elsewhere (Core 1.0, section 2: at most 255 characters).
 */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._|-]{0,127}$/;
const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Fields that other services know by the name of their claim. */
const claimFields = ['preferredUsername', 'zoneinfo', 'nickname', 'middleName', 'website', 'profileUrl'] as const;

/** The imported columns of a row; all others are ignored. */
export const listKnownNames = (withheld: ReadonlySet<ProfileField>): ReadonlySet<string> =>
  new Set([
    ...knownNames,
    ...claimFields.filter((name) => !withheld.has(name)).map((name) => profileFields[name].attribute),
  ]);
const knownNames = new Set([
  ...['sub', 'username', 'cognito:username', 'email', 'email_verified', 'phone_number', 'phone_number_verified'],
  ...['name', 'given_name', 'family_name', 'address', 'birthdate', 'gender', 'locale', 'picture'],
  ...['preferred_language', 'custom:preferredlanguage', 'custom:newsletter', 'custom:tos_signed', 'custom:tos_version'],
  ...['custom:companyname', 'custom:jobtitle', 'cognito:mfa_enabled', 'mfaoptions', 'password_hash'],
  ...['identities', 'enabled', 'userstatus', 'cognito:user_status', 'usercreatedate', 'created_at'],
  // Always present in the AWS list, and irrelevant.
  'userlastmodifieddate',
]);

/** The pool's states of a password that must not sign in any more. */
const voidPasswords = new Set(['RESET_REQUIRED', 'FORCE_CHANGE_PASSWORD', 'COMPROMISED']);

const genderCodes: Record<string, string> = { female: '1', f: '1', male: '2', m: '2', other: '3' };

function parseInstant(value: unknown, nowMs: number): number | undefined {
  const ms = typeof value === 'number' ? value * 1_000 : Date.parse(String(value));
  return Number.isFinite(ms) && ms > 0 && ms <= nowMs ? Math.round(ms) : undefined;
}

class ImportRow {
  readonly notes: string[] = [];
  readonly #values: SourceRow['values'];

  constructor({ values }: SourceRow) {
    this.#values = values;
  }

  value(...names: string[]): unknown {
    for (const name of names) if (this.#values.has(name)) return this.#values.get(name);
    return undefined;
  }

  /** '' if it is missing, or neither text nor number. */
  text(...names: string[]): string {
    const value = this.value(...names);
    return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  }

  /** A valid text, else none, and a note. */
  fitting(name: string, fits: (text: string) => boolean, why: string): string | null {
    const text = this.text(name);
    if (text === '') return null;
    if (fits(text)) return text;
    this.notes.push(`${name}: ${why}; left out`);
    return null;
  }

  line(name: string, max: number, lines = false): string | null {
    const plain = (text: string) => !isMalformed(lines ? text.replace(/\r?\n/g, ' ') : text, max);
    return this.fitting(name, plain, `is longer than ${max} characters, or has control characters`);
  }

  /** Undefined if it is missing. */
  truth(name: string): boolean | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    const text = String(value).toLowerCase();
    if (text === 'true' || text === '1') return true;
    if (text !== 'false' && text !== '0') this.notes.push(`${name}: is neither true nor false; taken as false`);
    return false;
  }
}

function parseId(row: ImportRow): UserId | undefined {
  const args = row.text('sub');
  // A pool with sign-in by address uses the sub as the user name.
  const username = row.text('cognito:username', 'username');
  const id = args !== '' ? args : uuidPattern.test(username) ? username : '';
  return idPattern.test(id) ? toUserId(id) : undefined;
}

function pictureFits(text: string): boolean {
  return !isMalformed(text, 2_000) && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function parseTerms(row: ImportRow, current: number): number | null {
  const version = Number(row.text('custom:tos_version'));
  if (row.truth('custom:tos_signed') !== true || !Number.isSafeInteger(version) || version < 1) return null;
  // Users of a pool can often write such an attribute themselves.
  return Math.min(version, current);
}

function parseNames(row: ImportRow): Pick<ImportedUser, 'givenName' | 'familyName'> {
  const { max } = profileFields.givenName;
  const [givenName, familyName] = [row.line('given_name', max), row.line('family_name', max)];
  if (givenName !== null || familyName !== null) {
    return { givenName: givenName ?? '', familyName: familyName ?? '' };
  }
  return { givenName: row.line('name', max) ?? '', familyName: '' };
}

function genderFor(row: ImportRow): string {
  const text = row.text('gender').toLowerCase();
  const code = genderCodes[text] ?? text;
  return (genders as readonly string[]).includes(code) ? code : '0';
}

type ClaimFields = Pick<ImportedUser, (typeof claimFields)[number]>;

/** By the rules of the form, in which a member could correct them. */
function parseClaims(row: ImportRow, { withheldFields }: ReadSettings): ClaimFields {
  const claims: ClaimFields = {
    preferredUsername: null,
    zoneinfo: null,
    nickname: null,
    middleName: null,
    website: null,
    profileUrl: null,
  };
  for (const name of claimFields) {
    const { attribute, schema } = profileFields[name];
    const text = withheldFields.has(name) ? '' : row.text(attribute);
    if (text === '') continue;
    claims[name] = schema.safeParse(text).data ?? null;
    if (claims[name] === null) row.notes.push(`${attribute}: does not fit the rules of this field; left out`);
  }
  return claims;
}

function parseProfile(row: ImportRow, settings: ReadSettings) {
  const { nowMs } = settings;
  const language = row.text('locale').slice(0, 2).toLowerCase();
  const preferred = row.value('preferred_language') === undefined ? 'custom:preferredlanguage' : 'preferred_language';
  return {
    ...parseNames(row),
    ...parseClaims(row, settings),
    locale: (languages as readonly string[]).includes(language) ? language : null,
    picture: row.fitting('picture', pictureFits, 'is no http or https address'),
    birthdate: row.fitting('birthdate', (text) => isBirthdate(text, nowMs), 'is no day like 1990-12-31'),
    address: row.line('address', profileFields.address.max, true),
    companyName: row.line('custom:companyname', profileFields.companyName.max),
    jobTitle: row.line('custom:jobtitle', profileFields.jobTitle.max),
    preferredLanguage: row.line(preferred, 35),
    gender: genderFor(row),
    newsletter: row.truth('custom:newsletter') === true,
    createdAt: parseInstant(row.value('created_at', 'usercreatedate'), nowMs) ?? nowMs,
    disabledAt: row.truth('enabled') === false ? nowMs : null,
  };
}

/** The number, and its second factor. */
function parsePhone(
  row: ImportRow,
  { smsOffered }: ReadSettings,
): Pick<ImportedUser, 'phone' | 'phoneVerified' | 'mfaPreference'> {
  const typed = row.fitting(
    'phone_number',
    (text) => normalisePhone(text) !== undefined,
    'is no number with + and digits',
  );
  const phone = typed === null ? null : (normalisePhone(typed) ?? null);
  const phoneVerified = row.truth('phone_number_verified') === true && phone !== null;
  const options = row.value('mfaoptions');
  const expected = row.truth('cognito:mfa_enabled') === true || (Array.isArray(options) && options.length > 0);
  const carries = expected && phoneVerified && smsOffered;
  if (expected && !carries) row.notes.push('second factor: cannot be taken over; the member sets it up anew');
  return { phone, phoneVerified, mfaPreference: carries ? 'sms' : 'none' };
}

type Hash = Pick<ImportedUser, 'passwordHash' | 'passwordProfile'>;
/** The hash is imported: the user signs in with it once, and it is replaced. */
export const weakHashText = 'password_hash: takes less work to guess at than it should; made anew at the next sign-in';
const noHash: Hash = { passwordHash: null, passwordProfile: null };

function parseHash(row: ImportRow, { ignoreHashes }: ReadSettings): Hash | { refused: string } {
  const args = row.value('password_hash');
  if (args === undefined || ignoreHashes) return noHash;
  if (voidPasswords.has(row.text('userstatus', 'cognito:user_status').toUpperCase())) {
    row.notes.push('password_hash: the member was to set another password; left out');
    return noHash;
  }
  const isHash = typeof args === 'string' || (typeof args === 'object' && args !== null && !Array.isArray(args));
  const read = isHash ? parseImportedHash(args as ImportedHashInput) : 'unknown';
  if (read === 'unknown') return { refused: 'password_hash: is of a kind that Foyer does not verify, or is cut off' };
  if (read === 'work') return { refused: 'password_hash: its work factor is more than Foyer spends on a sign-in' };
  if (isBelowFloor(read.profile)) {
    row.notes.push(weakHashText);
  }
  return { passwordHash: read.text, passwordProfile: read.profile === ownProfile ? null : read.profile };
}

/**
 * Reads a user from a row. An invalid optional value is omitted with a note; an invalid required one refuses the row.
 */
export function readMember(source: SourceRow, settings: ReadSettings): ReadMember {
  const row = new ImportRow(source);
  const id = parseId(row);
  const refuse = (refused: string): ReadMember => ({ refused, ...(id !== undefined && { id }) });
  if (source.fault !== undefined) return refuse(source.fault);
  if (id === undefined) return refuse('sub: there is none, or it has characters that no id has');
  const email = normaliseEmail(row.text('email'));
  if (email === undefined) return refuse('email: there is none, or it is no address');
  const hash = parseHash(row, settings);
  if ('refused' in hash) return refuse(hash.refused);
  const unconfirmed = row.text('userstatus', 'cognito:user_status').toUpperCase() === 'UNCONFIRMED';
  const emailVerified = (row.truth('email_verified') ?? settings.verified) && !unconfirmed;
  const member: ImportedUser = {
    id,
    email,
    emailVerified,
    ...hash,
    ...parsePhone(row, settings),
    ...parseProfile(row, settings),
    acceptedTosVersion: parseTerms(row, settings.termsVersion),
  };
  const { providerNames: names, nowMs } = settings;
  const identities = readIdentities(row.value('identities'), { names, nowMs }, row.notes);
  if (emailVerified) return { member, identities, notes: row.notes };
  return { member: withoutSignInMethods(member, identities, row.notes), identities: [], notes: row.notes };
}

/**
 * An unproven address may belong to another person, while the password and number are the claimant's. So the reader of
 * the address's mail sets the first password; no other credential is imported.
 */
function withoutSignInMethods(
  member: ImportedUser,
  identities: readonly LinkedSubject[],
  notes: string[],
): ImportedUser {
  if (identities.length > 0) notes.push('identities: email_verified is not true; left out');
  if (member.passwordHash !== null || member.phone !== null) {
    notes.push('email_verified: is not true; password, number and second factor are left out');
  }
  return { ...member, ...noHash, phone: null, phoneVerified: false, mfaPreference: 'none', acceptedTosVersion: null };
}
