import { z } from 'zod';
import { type ApiOperation, defineOperation, HttpError, requirePrincipal } from '../http/index.ts';
import {
  profileFieldNames,
  profileFields,
  requireCallingUser,
  type TypedProfile,
  toCognitoAttributes,
} from '../users/index.ts';
import { profileSaver } from './profile/profile-calls.ts';
import type { SaveProfileDeps } from './profile/save-profile.ts';

const fields = profileFieldNames.map((name) => ({ name, attribute: profileFields[name].attribute }));

/** The rules reject texts that are too long, with their own message. */
const text = z.string().max(2_000).optional();

/** The attributes that this call changes; address and number have calls of their own, and Foyer decides the rest. */
const changeable = z.strictObject(Object.fromEntries(fields.map(({ attribute }) => [attribute, text])));
const names = Object.fromEntries(fields.map(({ name, attribute }) => [name, attribute]));

const allAttributes = z.object({
  sub: z.string(),
  email: z.string(),
  email_verified: z.string(),
  phone_number: z.string().optional(),
  phone_number_verified: z.string(),
  ...Object.fromEntries(fields.map(({ attribute }) => [attribute, z.string().optional()])),
  given_name: z.string(),
  family_name: z.string(),
  gender: z.string(),
  picture: z.string().optional(),
  locale: z.string(),
  preferred_language: z.string().optional(),
  'custom:newsletter': z.string(),
  'custom:tos_signed': z.string(),
  'custom:tos_version': z.string().optional(),
});

/** The identity service operations on user attributes: the same rules as behind the pages. */
export function accountOperations(deps: SaveProfileDeps): ApiOperation[] {
  const save = profileSaver(deps);
  return [
    defineOperation({
      method: 'get',
      path: '/identity/userAttributes',
      id: 'userAttributes',
      summary: "The signed-in member's attributes, all of them texts",
      answer: allAttributes,
      handle: async ({ req }) => allAttributes.parse(toCognitoAttributes(await requireCallingUser(req, deps.database))),
    }),
    defineOperation({
      method: 'get',
      path: '/identity/currentUser',
      id: 'currentUser',
      summary: 'The signed-in member as the identity service tells them',
      // The specification's identity session user (section 3).
      answer: z.object({ id: z.string(), username: z.string(), attributes: allAttributes }),
      async handle({ req }) {
        const user = await requireCallingUser(req, deps.database);
        return { id: user.id, username: user.email, attributes: allAttributes.parse(toCognitoAttributes(user)) };
      },
    }),
    defineOperation({
      method: 'get',
      path: '/identity/currentSession',
      id: 'currentSession',
      summary:
        'By what the caller is signed in, and since when. Tokens are told to client apps alone, by the token endpoint',
      answer: z.object({
        sub: z.string(),
        /** A session of this browser, or a token that a client app holds. */
        by: z.enum(['session', 'token']),
        /** Time of the last authentication with all factors of the user; null: none since they have them. */
        authTime: z.int().nullable(),
      }),
      async handle({ req }) {
        const principal = requirePrincipal(req);
        if (principal.kind !== 'member') throw new HttpError('unauthorized', { detail: 'no user' });
        return { sub: principal.userId, by: principal.by, authTime: principal.authTimeMs ?? null };
      },
    }),
    defineOperation({
      method: 'post',
      path: '/identity/updateUserAttributes',
      id: 'updateUserAttributes',
      summary: 'Changes those attributes of the signed-in member that are named; the member is told by mail',
      body: changeable,
      answer: z.object({ status: z.literal('SUCCESS') }),
      async handle({ req, body }) {
        const user = await requireCallingUser(req, deps.database);
        const typed: TypedProfile = Object.fromEntries(fields.map(({ name, attribute }) => [name, body[attribute]]));
        await save(user, { req, typed, names });
        return { status: 'SUCCESS' as const };
      },
    }),
  ];
}
