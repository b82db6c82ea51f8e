import { z } from 'zod';
import type { TextKey } from '../../locales/index.ts';
import { timeZones, type UserDataField, type UserDataGroup } from '../../views/account/user-data.ts';
import type { ControlAttributes } from '../../views/parts/control.ts';
import {
  choiceSchema,
  type FormField,
  formField,
  languages,
  orNull,
  picturePathParts,
  textSchema,
} from '../http/index.ts';
import { keysIn } from '../shared/index.ts';

/** The specification names only the default '0': unspecified, female, male, other. */
export const genders = ['0', '1', '2', '3'] as const;

/** Tests for a valid date (ISO 8601) in the past, not before the birth of any living person. */
export function isBirthdate(text: string, nowMs: number): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  // The 30th of February becomes the 2nd of March.
  const isReal = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  return isReal && text >= '1900-01-01' && day.getTime() < nowMs;
}

const birthdateSchema = z
  .string()
  .trim()
  .refine((text) => text === '' || isBirthdate(text, Date.now()), {
    error: 'settings.errors.birthdate' satisfies TextKey,
  });

/** Names that a member could be mistaken by for the marketplace or its services. */
const reservedUsernames: ReadonlySet<string> = new Set(
  'abuse admin administrator anonymous api billing help info login logout moderator null postmaster root security settings support system undefined webmaster'.split(
    ' ',
  ),
);

/** Begins with a letter, so it is no phone number; without an @, so it is no address. */
const isUsername = (text: string): boolean =>
  /^(?=.{3,30}$)[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*$/.test(text) && !reservedUsernames.has(text);

const usernameSchema = z
  .string()
  .trim()
  .toLowerCase()
  .refine((text) => text === '' || isUsername(text), { error: 'settings.errors.username' satisfies TextKey });

/** The usual name of a time zone, which browsers may call by an older one; undefined: unknown. */
export function toTimeZone(text: string): string | undefined {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions();
    return timeZones.find((zone) => zone === timeZone);
  } catch {
    return undefined;
  }
}

const timeZoneSchema = z
  .string()
  .trim()
  .refine((text) => text === '' || toTimeZone(text) !== undefined, {
    error: 'settings.errors.choice' satisfies TextKey,
  })
  .transform((text) => (text === '' ? null : (toTimeZone(text) ?? null)));

/** The address of a page that a browser can open. */
const pageSchema = (max: number) =>
  textSchema({ max, optional: true }).refine(
    (text) => text === '' || ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? ''),
    { error: 'settings.errors.website' satisfies TextKey },
  );

/** One field of the profile: of its page, the identity service's attributes, the claims, the export and the mails. */
interface ProfileFieldDefinition<Value> extends FormField<Value> {
  /** Its name among the attributes of the identity service, and of its claim. */
  attribute: string;
  /** Client apps get its value as a claim. */
  claim: boolean;
  /** Only where the operator has switched it on (PROFILE_FIELDS). */
  optIn: boolean;
  /** Its row in the form of the user data; the names have a page of their own. */
  group: UserDataGroup | 'name';
  /** The only values that it accepts. */
  choices?: readonly string[] | undefined;
}

interface ProfileOptions extends ControlAttributes {
  group: UserDataGroup | 'name';
  attribute?: string;
  claim?: true;
  optIn?: true;
}
interface TextOptions extends ProfileOptions {
  /** Maximum length. */
  max: number;
}

/** The claims of OpenID Connect Core 1.0, section 5.1, about a person. */
const standardClaims = new Set(
  'name given_name family_name middle_name nickname preferred_username profile picture website gender birthdate zoneinfo locale address'.split(
    ' ',
  ),
);

/** A standard claim keeps its name; all others begin with `custom:`, as in a Cognito pool. */
const toAttribute = (name: string): string =>
  standardClaims.has(name) ? name : `custom:${name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())}`;

const field = <Value>(
  name: string,
  schema: z.ZodType<Value, string>,
  { attribute = toAttribute(name), claim, optIn, group, ...html }: ProfileOptions,
): ProfileFieldDefinition<Value> => ({
  ...formField(name, { schema, ...html }),
  attribute,
  claim: claim === true,
  optIn: optIn === true,
  group,
});

/** A text that may not be empty. */
const requiredText = (name: string, { max, ...options }: TextOptions) => ({
  ...field(name, textSchema({ max }), { maxLength: max, required: true, type: 'text', ...options }),
  max,
});

/** A text that may be empty. */
const optionalText = (name: string, { max, ...options }: TextOptions) => ({
  ...field(name, orNull(textSchema({ max, optional: true })), { maxLength: max, type: 'text', ...options }),
  max,
});

/** The address of a page of the user, which the operator can switch on. */
const pageAddress = (name: string, { max, ...options }: TextOptions) => ({
  ...field(name, orNull(pageSchema(max)), { maxLength: max, type: 'url', claim: true, optIn: true, ...options }),
  max,
});

/** A text of several lines that may be empty. */
const optionalLines = (name: string, { max, ...options }: TextOptions) => ({
  ...field(name, orNull(textSchema({ max, optional: true, lines: true })), { maxLength: max, ...options }),
  max,
});

/**
 * The profile that users edit themselves. A new field is one entry here, its column and its label in
 * `settings.userData.fields`. The order is that of the form, within each group, and of the mails. Client apps get a
 * field only with `claim`.
 */
export const profileFields = {
  givenName: requiredText('given_name', { max: 100, group: 'name', autoComplete: 'given-name', claim: true }),
  familyName: requiredText('family_name', { max: 100, group: 'name', autoComplete: 'family-name', claim: true }),
  preferredUsername: field('preferred_username', orNull(usernameSchema), {
    maxLength: 30,
    group: 'username',
    type: 'text',
    claim: true,
  }),
  birthdate: field('birthdate', orNull(birthdateSchema), {
    group: 'person',
    type: 'date',
    autoComplete: 'bday',
    claim: true,
  }),
  gender: {
    ...field('gender', choiceSchema(genders), { group: 'person', autoComplete: 'sex', claim: true }),
    choices: genders,
  },
  address: optionalLines('address', { max: 500, group: 'address', claim: true }),
  companyName: optionalText('company', {
    attribute: 'custom:companyName',
    max: 200,
    group: 'work',
    autoComplete: 'organization',
    claim: true,
  }),
  jobTitle: optionalText('job_title', { max: 200, group: 'work', autoComplete: 'organization-title', claim: true }),
  nickname: optionalText('nickname', { max: 100, group: 'pages', autoComplete: 'nickname', claim: true, optIn: true }),
  middleName: optionalText('middle_name', {
    max: 100,
    group: 'pages',
    autoComplete: 'additional-name',
    claim: true,
    optIn: true,
  }),
  website: pageAddress('website', { max: 200, group: 'pages' }),
  profileUrl: pageAddress('profile', { max: 200, group: 'pages' }),
  newsletter: field(
    'newsletter',
    choiceSchema(['true', 'false']).transform((text) => text === 'true'),
    { group: 'newsletter', type: 'checkbox' },
  ),
  locale: {
    ...field('locale', orNull(choiceSchema(['', ...languages])), {
      group: 'language',
      autoComplete: 'language',
      claim: true,
    }),
    choices: languages,
  },
  zoneinfo: {
    ...field('zoneinfo', timeZoneSchema, { group: 'language', claim: true }),
    choices: timeZones,
  },
} as const satisfies Record<'givenName' | 'familyName' | UserDataField, ProfileFieldDefinition<unknown>>;

export type ProfileField = keyof typeof profileFields;
export const profileFieldNames = keysIn(profileFields);
/** Fields as they were typed; the others stay unchanged. */
export type TypedProfile = { [Name in ProfileField]?: string | undefined };

/**
 * The fields that the operator has not switched on: no form shows them, no call changes them, no client app gets them.
 * @param attributes those of the fields that are on
 */
export const listWithheldFields = (attributes: readonly string[]): ReadonlySet<ProfileField> =>
  new Set(
    profileFieldNames.filter((name) => {
      const { optIn, attribute } = profileFields[name];
      return optIn && !attributes.includes(attribute);
    }),
  );

const { givenName, familyName, ...userDataFields } = profileFields;
export const nameForm = { givenName, familyName };
export const userDataForm = userDataFields;

export const isUserDataField = (name: string): name is UserDataField => Object.hasOwn(userDataForm, name);
/** One value for each field of the user data, in the order of the form. */
export const mapUserData = <Value>(toValue: (name: UserDataField) => Value) =>
  Object.fromEntries(profileFieldNames.filter(isUserDataField).map((name) => [name, toValue(name)])) as Record<
    UserDataField,
    Value
  >;

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
