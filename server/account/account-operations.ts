import { z } from 'zod';
import {
  type ApiOperation,
  defineOperation,
  describedAs,
  doc,
  HttpError,
  requirePrincipal,
  success,
  successSchema,
} from '../http/index.ts';
import {
  attributeDocs,
  cognitoAttributesSchema,
  memberIdDoc,
  type ProfileField,
  profileFieldNames,
  profileFields,
  requireCallingUser,
  type TypedProfile,
  toCognitoAttributes,
  toGenderNumber,
} from '../users/index.ts';
import { profileSaver } from './profile/profile-calls.ts';
import type { SaveProfileDeps } from './profile/save-profile.ts';

const fields = profileFieldNames.map((name) => ({ name, attribute: profileFields[name].attribute }));

/** The rules reject texts that are too long, with their own message. */
const toText = (name: ProfileField) => {
  return z
    .string()
    .max(2_000)
    .optional()
    .meta({ ...attributeDocs[name], maxLength: profileFields[name].html.maxLength ?? 2_000 });
};

/** An attribute that has another form in a claim: both forms are accepted. */
const attributeField = (name: ProfileField, fromClaim: (value: unknown) => unknown) =>
  z
    .unknown()
    .transform(fromClaim)
    .pipe(z.string().max(2_000))
    .meta({
      ...attributeDocs[name],
      ...describedAs({
        ...attributeDocs[name],
        type: 'string',
        maxLength: profileFields[name].html.maxLength ?? 2_000,
      }),
    })
    .optional();
const addressClaim = z.object({ formatted: z.string() });

/** The attributes that this call changes; address and number have calls of their own, and Foyer decides the rest. */
const changeable = z.strictObject({
  ...Object.fromEntries(fields.map(({ name, attribute }) => [attribute, toText(name)])),
  gender: attributeField('gender', toGenderNumber),
  address: attributeField('address', (value) => addressClaim.safeParse(value).data?.formatted ?? value),
  'custom:newsletter': attributeField('newsletter', (value) => (typeof value === 'boolean' ? String(value) : value)),
});
const toTyped = (body: Record<string, string | undefined>): TypedProfile =>
  Object.fromEntries(fields.map(({ name, attribute }) => [name, body[attribute]]));
const names = Object.fromEntries(fields.map(({ name, attribute }) => [name, attribute]));

function updateAttributes(deps: SaveProfileDeps, save: ReturnType<typeof profileSaver>): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/updateUserAttributes',
    id: 'updateUserAttributes',
    summary: 'Change user attributes of the member',
    description: 'Attributes that the body omits stay unchanged. A mail reports the change.',
    body: changeable,
    problems: { 409: 'The username is another member’s' },
    answer: successSchema,
    async handle({ req, body }) {
      const user = await requireCallingUser(req, deps.database);
      await save(user, { req, typed: toTyped(body), names });
      return success;
    },
  });
}

/** The identity service operations on user attributes: the same rules as behind the pages. */
export function accountOperations(deps: SaveProfileDeps): ApiOperation[] {
  const save = profileSaver(deps);
  return [
    defineOperation({
      method: 'get',
      path: '/identity/userAttributes',
      id: 'userAttributes',
      summary: 'Read the user attributes of the member',
      description: 'All of them are texts, as in the identity service.',
      answer: cognitoAttributesSchema,
      handle: async ({ req }) =>
        cognitoAttributesSchema.parse(toCognitoAttributes(await requireCallingUser(req, deps.database))),
    }),
    defineOperation({
      method: 'get',
      path: '/identity/currentUser',
      id: 'currentUser',
      summary: 'Read the signed-in member',
      description: 'The shape is that of the identity service.',
      // The specification's identity session user (section 3).
      answer: z
        .object({
          id: z.string().meta(memberIdDoc),
          username: z.string().meta(doc('Email address of the member', 'ada@example.com')),
          attributes: cognitoAttributesSchema,
        })
        .meta({ id: 'CurrentUser', description: 'The signed-in member.' }),
      async handle({ req }) {
        const user = await requireCallingUser(req, deps.database);
        return {
          id: user.id,
          username: user.email,
          attributes: cognitoAttributesSchema.parse(toCognitoAttributes(user)),
        };
      },
    }),
    defineOperation({
      method: 'get',
      path: '/identity/currentSession',
      id: 'currentSession',
      summary: 'Read how and when the member signed in',
      description: 'The answer has no tokens: client apps get them from the token endpoint.',
      answer: z
        .object({
          sub: z.string().meta(memberIdDoc),
          by: z.enum(['session', 'token']).meta(doc('A session of this browser, or a token that a client app holds')),
          authTime: z
            .int()
            .nullable()
            .meta(
              doc(
                'Time of the last authentication with all factors, in milliseconds since the epoch; null: none',
                1_795_510_200_000,
              ),
            ),
        })
        .meta({ id: 'CurrentSession', description: 'The session or token of the caller.' }),
      async handle({ req }) {
        const principal = requirePrincipal(req);
        if (principal.kind !== 'member') throw new HttpError('unauthorized', { detail: 'no user' });
        return { sub: principal.userId, by: principal.by, authTime: principal.authTimeMs ?? null };
      },
    }),
    updateAttributes(deps, save),
  ];
}
