import { accountOperations, contactOperations, profileSaver } from './account/index.ts';
import type { AppDeps, BaseServices } from './base-services.ts';
import { membershipOperations, planCommands } from './billing/index.ts';
import { type ApiOperation, openApiDocument } from './http/index.ts';
import { messageOperations } from './messages/index.ts';
import { mfaOperations } from './mfa/index.ts';
import { mediaFromConfig } from './module-settings.ts';
import { discoveryPaths, protocolCalls, routes } from './oidc/index.ts';
import { passwordOperations } from './password/index.ts';
import { sessionCookie } from './sessions/index.ts';
import { createUserRecipients, listWithheldFields, userOperations } from './users/index.ts';
import type { Modules } from './wiring.ts';

/** The calls of all modules, in the order of the document. */
export function listOperations(
  { config, database, kv, outbox, boxes, now }: AppDeps,
  { digest, withPicture }: BaseServices,
  { membership, signUp, password, mfa, contact, oauth, getMembershipClaims }: Modules,
): ApiOperation[] {
  const profile = { database, kv, outbox, now, withheldFields: listWithheldFields(config.PROFILE_FIELDS) };
  return [
    ...userOperations({
      database,
      membershipClaims: getMembershipClaims,
      plans: planCommands(membership),
      now,
      saveProfile: profileSaver(profile),
      mediaUrl: mediaFromConfig(config)?.url,
      withPicture,
      introspection: !config.production,
    }),
    ...membershipOperations(membership),
    ...signUp.operations,
    ...passwordOperations(password),
    ...accountOperations(profile),
    ...mfaOperations(mfa),
    ...contactOperations(contact),
    ...oauth.operations,
    ...messageOperations({
      database,
      kv,
      outbox,
      box: boxes.outbox,
      recipients: createUserRecipients(database),
      templates: config.SENDGRID_TEMPLATES ?? new Map(),
      openTemplates: new Set(config.SENDGRID_OPEN_TEMPLATES),
      uniformAnswers: config.PREVENT_USER_EXISTENCE_ERRORS,
      digest,
      now,
    }),
  ];
}

/** The OpenAPI document of these calls. */
export const describeOperations = (
  operations: readonly ApiOperation[],
  { config }: AppDeps,
  { publicUrl, cookies }: BaseServices,
) =>
  openApiDocument(operations, {
    title: `${config.BRAND_NAME} API`,
    publicUrl,
    contactEmail: config.MAIL_SUPPORT_ADDRESS,
    protocolCalls,
    sessionCookie: cookies.name(sessionCookie),
    authorizationUrl: publicUrl + routes.authorization,
    tokenUrl: publicUrl + routes.token,
    openIdConnectUrl: publicUrl + discoveryPaths[0],
  });
