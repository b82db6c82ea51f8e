/** Stand-ins for identity providers: their protocols, and a page to choose a person. */
export { type Answer, type Broken, brokenGroups, type IdTokenChange, isBroken } from './answers.ts';
export type { Client } from './authorize.ts';
export {
  type CompaniesJson,
  type CompanyKeys,
  companies,
  companyKeysIn,
  makeCompanyKeys,
  writeCompanies,
  writeCompanyKeys,
} from './files.ts';
export type { ProviderExchange } from './observe.ts';
export type { OidcIdentityProvider } from './oidc.ts';
export { providersPath } from './path.ts';
export {
  companyDomains,
  listPeople,
  oidcPath,
  type Person,
  type StandInKind,
  samlPath,
  standInKinds,
  toSubject,
} from './people.ts';
export type { SamlIdentityProvider } from './saml/identity-provider.ts';
export { readPosted, readRedirect, redirectAddress } from './saml/redirect.ts';
export { buildLogoutRequest, buildLogoutResponse, parseSamlMessage } from './saml/requests.ts';
export { buildSamlResponse, newSamlId, type SamlResponseOptions, signElement } from './saml/response.ts';
export { makeSigner, pemBody, type Signer } from './signer.ts';
export {
  createProviderStandIns,
  type ProviderStandIns,
  type ProviderStandInsOptions,
} from './stand-ins.ts';
