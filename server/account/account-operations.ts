import type { Request } from 'express';
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
  textField,
} from '../http/index.ts';
import {
  attributeDocs,
  cognitoAttributesSchema,
  type Media,
  memberIdDoc,
  type ProfileField,
  profileFieldNames,
  profileFields,
  readPictureAttribute,
  requireCallingUser,
  setPicture,
  type TypedProfile,
  toCognitoAttributes,
  toGenderNumber,
  type User,
  type WithPicture,
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

const pictureDoc = doc(
  'The picture: a path below the address of pictures, or an address there; empty: none. Members upload one in the settings',
  'ada.png',
);
const languageDoc = doc('Language in which the member wants to be addressed (BCP 47); empty: none', 'pt-BR');

/** '' for none. */
function isLanguageTag(text: string): boolean {
  try {
    return text === '' || Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}

interface AttributeDeps extends SaveProfileDeps {
  pictures: { media: Media; withPicture: WithPicture };
}

/** The attributes that this call changes; address and number have calls of their own, and Foyer decides the rest. */
const changeable = z.strictObject({
  ...Object.fromEntries(fields.map(({ name, attribute }) => [attribute, toText(name)])),
  gender: attributeField('gender', toGenderNumber),
  address: attributeField('address', (value) => addressClaim.safeParse(value).data?.formatted ?? value),
  'custom:newsletter': attributeField('newsletter', (value) => (typeof value === 'boolean' ? String(value) : value)),
  picture: textField(300).optional().meta(pictureDoc),
  preferred_language: textField(35)
    .refine(isLanguageTag, 'a language tag (BCP 47), as in pt-BR')
    .optional()
    .meta(languageDoc),
});
const toTyped = (body: Record<string, string | undefined>): TypedProfile =>
  Object.fromEntries(fields.map(({ name, attribute }) => [name, body[attribute]]));
const names = Object.fromEntries(fields.map(({ name, attribute }) => [name, attribute]));

/** @throws {HttpError} validation; undefined: the picture stays */
async function readPicture({ pictures }: AttributeDeps, user: User, value: string | undefined) {
  if (value === undefined) return undefined;
  const { picture: present } = await pictures.withPicture(user);
  const read = readPictureAttribute(value, { media: pictures.media, present });
  if (read.kind === 'same') return undefined;
  if (read.kind === 'set') return read;
  const detail = `empty, or a path without .. below ${pictures.media.url}, or an address there`;
  throw new HttpError('validation', { detail: 'body.picture', invalidParams: [{ name: 'body.picture', detail }] });
}

function updateAttributes(deps: AttributeDeps, save: ReturnType<typeof profileSaver>): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/updateUserAttributes',
    id: 'updateUserAttributes',
    summary: 'Change user attributes of the member',
    description: 'Attributes that the body omits stay unchanged. A mail reports the change.',
    body: changeable,
    problems: { 409: 'The username is another member’s' },
    answer: successSchema,
    async handle({ req, body: { picture, preferred_language: language, ...body } }) {
      const user = await requireCallingUser(req, deps.database);
      const change = await readPicture(deps, user, picture);
      await save(user, {
        req,
        typed: toTyped(body),
        names,
        ...(language !== undefined && { preferredLanguage: language === '' ? null : language }),
        async alongside(trx) {
          if (change !== undefined) await setPicture(trx, user.id, { ...change, nowMs: deps.now() });
        },
      });
      return success;
    },
  });
}

/** The identity service operations on user attributes: the same rules as behind the pages. */
export function accountOperations(deps: AttributeDeps): ApiOperation[] {
  const readAttributes = async (req: Request) => {
    const user = await deps.pictures.withPicture(await requireCallingUser(req, deps.database));
    return cognitoAttributesSchema.parse(toCognitoAttributes(user));
  };
  const save = profileSaver(deps);
  return [
    defineOperation({
      method: 'get',
      path: '/identity/userAttributes',
      id: 'userAttributes',
      summary: 'Read the user attributes of the member',
      description: 'All of them are texts, as in the identity service.',
      answer: cognitoAttributesSchema,
      handle: ({ req }) => readAttributes(req),
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
          attributes: await readAttributes(req),
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
