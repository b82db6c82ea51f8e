import { profileFieldNames, profileFields } from './profile-fields.ts';
import type { User } from './user.ts';

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
