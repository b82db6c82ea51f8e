import type { z } from 'zod';
import { type ProfileField, profileFieldNames, profileFields } from '../../server/users/profile-fields.ts';

type Stored<Name extends ProfileField> = z.output<(typeof profileFields)[Name]['schema']>;
type OptionalField = { [Name in ProfileField]: null extends Stored<Name> ? Name : never }[ProfileField];

const optionalFields = profileFieldNames.filter((name) => profileFields[name].schema.safeParse('').data === null);

/** The optional fields of the profile of a user who has filled in none of them. */
export const emptyProfile = Object.fromEntries(optionalFields.map((name) => [name, null])) as Record<
  OptionalField,
  null
>;
