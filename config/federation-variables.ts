import { text, webAddress } from './value-rules.ts';

/** The variables of `server/federation/`: a part of the schema in `schema.ts`. */
export const federationVariables = {
  GOOGLE_CLIENT_ID: text('the client id that Google gave you').optional(),
  GOOGLE_CLIENT_SECRET: text('the client secret that Google gave you').optional(),
  FACEBOOK_APP_ID: text('the app id that Facebook gave you').optional(),
  FACEBOOK_APP_SECRET: text('the app secret that Facebook gave you').optional(),
  AMAZON_CLIENT_ID: text('the client id that Amazon gave you').optional(),
  AMAZON_CLIENT_SECRET: text('the client secret that Amazon gave you').optional(),
  /** One address for all endpoints of the provider: a stand-in's. */
  GOOGLE_URL: webAddress.optional(),
  FACEBOOK_URL: webAddress.optional(),
  AMAZON_URL: webAddress.optional(),
  /** SAML and OpenID Connect providers are in the file. */
  PROVIDERS_FILE: text('a file').optional(),
};
