import { z } from 'zod';
import { type ApiOperation, defineOperation } from '../http/index.ts';
import type { Database } from '../store/index.ts';
import { requireCallingUser } from './api-user.ts';
import { claimsFor, type GetMembershipClaims, ownProfileClaimSchemas } from './claims.ts';
import { listUsers } from './list-users.ts';
import type { WithPicture } from './page-user.ts';
import { partnerDealOperations } from './partner-deal-operations.ts';
import { type PlanCommands, recordOperations } from './record-operations.ts';
import type { SaveProfile } from './save-profile.ts';

const userInfo = z.object({
  sub: z.string(),
  email: z.string(),
  email_verified: z.boolean(),
  name: z.string().optional(),
  given_name: z.string().optional(),
  family_name: z.string().optional(),
  phone_number: z.string().optional(),
  phone_number_verified: z.boolean().optional(),
  picture: z.string().optional(),
  locale: z.string().optional(),
  updated_at: z.int().optional(),
  birthdate: z.string().optional(),
  gender: z.string().optional(),
  address: z.object({ formatted: z.string() }).optional(),
  ...ownProfileClaimSchemas,
  plan: z.string().optional(),
  entitlements: z.array(z.string()),
});

/** The calls of this module: a user's own data (the specification's identity service operation "user info"). */
export function userOperations({
  database,
  membershipClaims,
  plans,
  saveProfile,
  mediaUrl,
  withPicture,
  introspection,
  now,
}: {
  database: Database;
  membershipClaims: GetMembershipClaims;
  plans: PlanCommands;
  saveProfile: SaveProfile;
  /** Base address of the users' pictures. */
  mediaUrl: string | undefined;
  withPicture: WithPicture | undefined;
  /** Whether callers can query the GraphQL schema. */
  introspection: boolean;
  now: () => number;
}): ApiOperation[] {
  return [
    ...recordOperations({ database, plans, saveProfile, mediaUrl, now }),
    listUsers(database, { introspection }),
    ...partnerDealOperations(database),
    defineOperation({
      method: 'get',
      path: '/user/info',
      id: 'userInfo',
      summary: 'The signed-in member',
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
