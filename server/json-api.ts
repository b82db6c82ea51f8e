import { z } from 'zod';
import type { ApiDocument } from '../views/api-reference/document.ts';
import { accountOperations, contactOperations, profileSaver } from './account/index.ts';
import type { AppDeps, BaseServices } from './base-services.ts';
import { membershipOperations, planCommands } from './billing/index.ts';
import {
  type ApiOperation,
  callAccess,
  doc,
  type GraphqlPart,
  graphqlAccess,
  graphqlOperation,
  openApiDocument,
} from './http/index.ts';
import { graphqlMessages, messageOperations } from './messages/index.ts';
import { mfaOperations } from './mfa/index.ts';
import { mediaFromConfig, picturesFromConfig } from './module-settings.ts';
import { discoveryPaths, protocolCalls, routes } from './oidc/index.ts';
import { passwordOperations } from './password/index.ts';
import { sessionCookie } from './sessions/index.ts';
import { createUserRecipients, graphqlUsers, listWithheldFields, userOperations } from './users/index.ts';
import type { Modules } from './wiring.ts';

/** `POST /graphql`: the fields of all modules in one schema. */
function graphqlCall(parts: readonly GraphqlPart[], introspection: boolean): ApiOperation {
  const typeName = z.string().optional().meta(doc('Name of the GraphQL type', 'Query'));
  return graphqlOperation({
    path: '/graphql',
    id: 'graphql',
    summary: 'Read user records and notifications by GraphQL',
    description:
      'The fields `listUsers` and `listMessages`, and the mutations `readMessage` and `readAllMessages`. Members read and mark their own. A service names the member, and reads what its scopes open.',
    access: callAccess.graphql,
    fields: graphqlAccess,
    schema: parts.map(({ schema }) => schema).join('\n'),
    introspection,
    data: z
      .looseObject({ __typename: typeName, ...Object.fromEntries(parts.flatMap(({ data }) => Object.entries(data))) })
      .meta({ id: 'GraphqlData', description: 'The queried fields, also those of introspection.' }),
    problems: { 404: 'No such member or notification' },
    resolvers: Object.fromEntries(parts.flatMap(({ resolvers }) => Object.entries(resolvers))),
  });
}

/** The calls of all modules, in the order of the document. */
export function listOperations(
  { config, database, kv, outbox, boxes, now }: AppDeps,
  { digest, withPicture }: BaseServices,
  { membership, signUp, password, mfa, contact, oauth, getMembershipClaims }: Modules,
): ApiOperation[] {
  const profile = { database, kv, outbox, now, withheldFields: listWithheldFields(config.PROFILE_FIELDS) };
  const recipients = createUserRecipients(database);
  const graphqlParts = [graphqlUsers(database), graphqlMessages({ database, recipients, now })];
  return [
    ...userOperations({
      database,
      membershipClaims: getMembershipClaims,
      plans: planCommands(membership),
      now,
      saveProfile: profileSaver(profile),
      mediaUrl: mediaFromConfig(config)?.url,
      withPicture,
    }),
    graphqlCall(graphqlParts, !config.production),
    ...membershipOperations(membership),
    ...signUp.operations,
    ...passwordOperations(password),
    ...accountOperations({ ...profile, pictures: { media: picturesFromConfig(config), withPicture } }),
    ...mfaOperations(mfa),
    ...contactOperations(contact),
    ...oauth.operations,
    ...messageOperations({
      database,
      kv,
      outbox,
      box: boxes.outbox,
      recipients,
      templates: config.SENDGRID_TEMPLATES ?? new Map(),
      openTemplates: new Set(config.SENDGRID_OPEN_TEMPLATES),
      uniformAnswers: config.PREVENT_USER_EXISTENCE_ERRORS,
      digest,
      now,
    }),
  ];
}

/** The OpenAPI document of these calls, made at the first call: it takes a tenth of the start. */
export function describeOperations(
  operations: readonly ApiOperation[],
  { config }: AppDeps,
  { publicUrl, cookies }: BaseServices,
): () => ApiDocument {
  const settings = {
    title: `${config.BRAND_NAME} API`,
    publicUrl,
    contactEmail: config.MAIL_SUPPORT_ADDRESS,
    protocolCalls,
    sessionCookie: cookies.name(sessionCookie),
    authorizationUrl: publicUrl + routes.authorization,
    tokenUrl: publicUrl + routes.token,
    openIdConnectUrl: publicUrl + discoveryPaths[0],
  };
  let document: ApiDocument | undefined;
  return () => {
    document ??= openApiDocument(operations, settings);
    return document;
  };
}
