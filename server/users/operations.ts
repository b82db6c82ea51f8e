import { z } from 'zod';
import { type ApiOperation, defineOperation, doc } from '../http/index.ts';
import type { Database } from '../store/index.ts';
import { requireCallingUser } from './api-user.ts';
import { attributeDocs, memberIdDoc } from './attribute-docs.ts';
import type { WithPicture } from './claims.ts';
import { claimsFor, type GetMembershipClaims, ownProfileClaimSchemas } from './claims.ts';
import { partnerDealOperations } from './partner-deal-operations.ts';
import { type PlanCommands, recordOperations } from './record-operations.ts';
import type { SaveProfile } from './save-profile.ts';

const userInfo = z
  .object({
    sub: z.string().meta(memberIdDoc),
    email: z.string().meta(doc('Email address', 'ada@example.com')),
    email_verified: z.boolean().meta(doc('Whether the email address is verified')),
    name: z.string().optional().meta(doc('Given and family name', 'Ada Lovelace')),
    given_name: z.string().optional().meta(attributeDocs.givenName),
    family_name: z.string().optional().meta(attributeDocs.familyName),
    phone_number: z.string().optional().meta(doc('Phone number (E.164)', '+4915112345678')),
    phone_number_verified: z.boolean().optional().meta(doc('Whether the phone number is verified')),
    picture: z.string().optional().meta(doc('Address of a picture', 'https://login.example.com/media/ada.png')),
    locale: z.string().optional().meta(attributeDocs.locale),
    updated_at: z.int().optional().meta(doc('Time of the last change, in seconds since the epoch', 1_795_510_200)),
    birthdate: z.string().optional().meta(attributeDocs.birthdate),
    gender: z.string().optional().meta(doc('female, male or other; absent: not stated', 'female')),
    address: z
      .object({ formatted: z.string().meta(attributeDocs.address) })
      .meta({ id: 'AddressClaim', description: 'Postal address (OpenID Connect Core 1.0, section 5.1.1).' })
      .optional(),
    ...ownProfileClaimSchemas,
    plan: z.string().optional().meta(doc('Id of the plan of the member', '12')),
    seats: z.int().optional().meta(doc('Number of seats; absent: the plan is not sold by the seat', 5)),
    entitlements: z.array(z.string().meta(doc('An entitlement', 'search'))).meta(doc('The entitlements of the plan')),
  })
  .meta({ id: 'UserInfo', description: 'The claims of a member (OpenID Connect Core 1.0, section 5.1).' });

/** The calls of this module: a user's own data (the specification's identity service operation "user info"). */
export function userOperations({
  database,
  membershipClaims,
  plans,
  saveProfile,
  mediaUrl,
  withPicture,
  now,
}: {
  database: Database;
  membershipClaims: GetMembershipClaims;
  plans: PlanCommands;
  saveProfile: SaveProfile;
  /** Base address of the users' pictures. */
  mediaUrl: string | undefined;
  withPicture: WithPicture | undefined;
  now: () => number;
}): ApiOperation[] {
  return [
    ...recordOperations({ database, plans, saveProfile, mediaUrl, now }),
    ...partnerDealOperations(database),
    defineOperation({
      method: 'get',
      path: '/user/info',
      id: 'userInfo',
      summary: 'Read the claims of the member',
      description: 'A claim without a value is absent.',
      answer: userInfo,
      async handle({ req }) {
        const user = await requireCallingUser(req, database);
        // The schema has all claims; a claim without a value is omitted.
        const scopes = new Set(['openid', 'profile', 'email', 'phone', 'address', 'membership']);
        const subject = withPicture === undefined ? user : await withPicture(user);
        return userInfo.parse(claimsFor(subject, scopes, membershipClaims(user)));
      },
    }),
  ];
}
