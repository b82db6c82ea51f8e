import { standardCredentials, standardUrlVariables, toRecord } from './standard-providers.ts';
import { text, webAddress } from './value-rules.ts';

/** The variables of `server/federation/`: a part of the schema in `schema.ts`. */
export const federationVariables = {
  ...toRecord(
    standardCredentials,
    ({ variable }) => variable,
    ({ what, name }) => text(`the ${what} that ${name} gave you`).optional(),
  ),
  /** One address for all endpoints of the provider: a stand-in's. */
  ...toRecord(
    standardUrlVariables,
    (variable) => variable,
    () => webAddress.optional(),
  ),
  /** SAML and OpenID Connect providers are in the file. */
  PROVIDERS_FILE: text('a file').optional(),
};
