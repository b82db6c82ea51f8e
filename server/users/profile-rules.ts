import { isMalformed, languages, picturePathParts } from '../http/index.ts';
import type { ProfileChange } from './profile-store.ts';

/** Profile fields from a form; omitted fields stay unchanged. */
export type TypedProfile = {
  [Name in (typeof profileFields)[number]]?: string | undefined;
};

export const profileFields = [
  'givenName',
  'familyName',
  'birthdate',
  'gender',
  'address',
  'companyName',
  'jobTitle',
  'newsletter',
  'locale',
] as const;
export type ProfileField = (typeof profileFields)[number];

/** `choice`: not one of the options. */
export type ProfileFault = 'empty' | 'too-long' | 'characters' | 'birthdate' | 'choice';

/** The specification names only the default '0': unspecified, female, male, other. */
export const genders = ['0', '1', '2', '3'] as const;

/** Maximum length of each text. */
export const maxProfileLength = {
  givenName: 100,
  familyName: 100,
  address: 500,
  companyName: 200,
  jobTitle: 200,
} as const;

type TextField = keyof typeof maxProfileLength;
const isText = (name: ProfileField): name is TextField => Object.hasOwn(maxProfileLength, name);

function textFault(name: TextField, text: string): ProfileFault | undefined {
  const max = maxProfileLength[name];
  // An address has several lines.
  const line = name === 'address' ? text.replace(/\r?\n/g, ' ') : text;
  if (text === '') return name === 'givenName' || name === 'familyName' ? 'empty' : undefined;
  if (line.length > max) return 'too-long';
  return isMalformed(line, max) ? 'characters' : undefined;
}

/** Tests for a valid date (ISO 8601) in the past, not before the birth of any living person. */
export function isBirthdate(text: string, nowMs: number): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  // The 30th of February becomes the 2nd of March.
  const isReal = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  return isReal && text >= '1900-01-01' && day.getTime() < nowMs;
}

function findProfileFault(name: ProfileField, text: string, nowMs: number): ProfileFault | undefined {
  if (isText(name)) return textFault(name, text);
  if (name === 'birthdate') return text === '' || isBirthdate(text, nowMs) ? undefined : 'birthdate';
  const choices: Record<typeof name, readonly string[]> = {
    gender: genders,
    newsletter: ['true', 'false'],
    locale: ['', ...languages],
  };
  return choices[name].includes(text) ? undefined : 'choice';
}

/**
 * Reads and trims typed fields; an empty optional field becomes null.
 * @param nowMs milliseconds since the epoch
 */
export function readProfile(
  typed: TypedProfile,
  nowMs: number,
): { change: ProfileChange } | { faults: Partial<Record<ProfileField, ProfileFault>> } {
  const input = profileFields.flatMap((name) => {
    const text = typed[name]?.trim();
    return text === undefined ? [] : [{ name, text, fault: findProfileFault(name, text, nowMs) }];
  });
  const wrong = input.filter(({ fault }) => fault !== undefined);
  if (wrong.length > 0) return { faults: Object.fromEntries(wrong.map(({ name, fault }) => [name, fault])) };
  const change = input.map(({ name, text }) => [name, name === 'newsletter' ? text === 'true' : text || null]);
  return { change: Object.fromEntries(change) as ProfileChange };
}

/**
 * Tests whether a text is a valid imageName: the path of a picture below MEDIA_URL, without `..`, or its whole address
 * there. Client apps append the value to an address of their own.
 */
export function isImageName(name: string, mediaUrl: string | undefined): boolean {
  if (URL.canParse(name)) {
    const { origin, username, password } = new URL(name);
    return mediaUrl !== undefined && origin === new URL(mediaUrl).origin && username === '' && password === '';
  }
  return picturePathParts(`/${name.split('/').map(encodeURIComponent).join('/')}`) !== undefined;
}
