import type { User } from './user.ts';

/** The specification's default for gender: unspecified. */
export const unspecifiedGender = '0';

/**
 * The specification's user attributes (section 3), under its names and as text, as client apps from a Cognito pool know
 * them. Foyer itself uses the fields of `User`.
 */
export function toCognitoAttributes(user: User): Record<string, string> {
  const submitted: Record<string, string | null> = {
    sub: user.id,
    email: user.email,
    email_verified: String(user.emailVerified),
    phone_number: user.phone,
    phone_number_verified: String(user.phoneVerified),
    given_name: user.givenName,
    family_name: user.familyName,
    address: user.address,
    birthdate: user.birthdate,
    gender: user.gender,
    picture: user.picture,
    locale: user.locale ?? 'en',
    preferred_language: user.preferredLanguage,
    'custom:newsletter': String(user.newsletter),
    'custom:tos_signed': String(user.acceptedTosVersion !== null),
    'custom:tos_version': user.acceptedTosVersion === null ? null : String(user.acceptedTosVersion),
    'custom:companyName': user.companyName,
    'custom:jobTitle': user.jobTitle,
  };
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(submitted)) if (value !== null) attributes[name] = value;
  return attributes;
}
