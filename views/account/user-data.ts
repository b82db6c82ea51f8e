import type { texts } from '../../locales/index.ts';

/** The fields of the user data: each has its label in `settings.userData.fields`. */
export type UserDataField = keyof (typeof texts)['en']['settings']['userData']['fields'];

/** The names of time zones in the IANA database, and UTC. */
export const timeZones: readonly string[] = [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC'),
];

/** The rows of the form, in their order. Each entry of the profile names its row. */
export const userDataGroups = ['username', 'person', 'address', 'work', 'pages', 'language', 'newsletter'] as const;
export type UserDataGroup = (typeof userDataGroups)[number];

/** The stored values. */
export type UserData = Record<UserDataField, string | boolean | null>;

/** The names of the fields, in the order of the record. */
export const listUserDataFields = (fields: Record<UserDataField, unknown>): UserDataField[] =>
  Object.keys(fields).filter((name): name is UserDataField => Object.hasOwn(fields, name));

/** Fields with a format, and most of them a control, of their own. */
const special = ['preferredUsername', 'birthdate', 'gender', 'address', 'newsletter', 'locale', 'zoneinfo'] as const;
type TextField = Exclude<UserDataField, (typeof special)[number]>;

/** The fields that are one line of text, in the order of the record. */
export const listTextFields = (fields: Record<UserDataField, unknown>, withheld: readonly string[] = []): TextField[] =>
  listUserDataFields(fields).filter(
    (name): name is TextField => special.every((other) => other !== name) && !withheld.includes(name),
  );
