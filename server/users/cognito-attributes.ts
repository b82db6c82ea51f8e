import { z } from 'zod';
import { doc } from '../http/index.ts';
import { attributeDocs, memberIdDoc } from './attribute-docs.ts';
import { profileFieldNames, profileFields } from './profile-fields.ts';
import type { User } from './user.ts';

const flag = (description: string) => z.string().meta(doc(`${description}: true or false`, 'true'));

/** Their schema in answers of the JSON API. */
export const cognitoAttributesSchema = z
  .object({
    sub: z.string().meta(memberIdDoc),
    email: z.string().meta(doc('Email address', 'ada@example.com')),
    email_verified: flag('Whether the email address is verified'),
    phone_number: z.string().optional().meta(doc('Phone number (E.164)', '+4915112345678')),
    phone_number_verified: flag('Whether the phone number is verified'),
    ...Object.fromEntries(
      profileFieldNames.map((name) => [profileFields[name].attribute, z.string().optional().meta(attributeDocs[name])]),
    ),
    given_name: z.string().meta(attributeDocs.givenName),
    family_name: z.string().meta(attributeDocs.familyName),
    gender: z.string().meta(attributeDocs.gender),
    picture: z.string().optional().meta(doc('Address of a picture', 'https://login.example.com/media/ada.png')),
    locale: z.string().meta(attributeDocs.locale),
    preferred_language: z.string().optional().meta(doc('Language of the marketplace', 'en')),
    'custom:newsletter': z.string().meta(attributeDocs.newsletter),
    'custom:tos_signed': flag('Whether the member has accepted terms'),
    'custom:tos_version': z.string().optional().meta(doc('The accepted version of the terms', '1')),
  })
  .meta({
    id: 'UserAttributes',
    description: 'User attributes in the names of the identity service, all of them texts.',
  });

const profileAttributes = (user: User) =>
  Object.fromEntries(profileFieldNames.map((name) => [profileFields[name].attribute, user[name]]));

/**
 * The specification's user attributes (section 3), under its names and as text, as client apps from a Cognito pool know
 * them. Foyer itself uses the fields of `User`.
 */
export function toCognitoAttributes(user: User): Record<string, string> {
  const all: Record<string, string | number | boolean | null> = {
    sub: user.id,
    email: user.email,
    email_verified: user.emailVerified,
    phone_number: user.phone,
    phone_number_verified: user.phoneVerified,
    ...profileAttributes(user),
    picture: user.picture,
    locale: user.locale ?? 'en',
    preferred_language: user.preferredLanguage,
    'custom:tos_signed': user.acceptedTosVersion !== null,
    'custom:tos_version': user.acceptedTosVersion,
  };
  const present = Object.entries(all).filter(([, value]) => value !== null);
  return Object.fromEntries(present.map(([name, value]) => [name, String(value)]));
}
