/**
 * The module of identity providers: the standard ones (Google and others), SAML 2.0 and any OpenID Connect one.
 * Owns the requests and responses (`passport.authenticate`, which no other module calls), the pending attempts, the
 * links between users and their identities, and the rule that decides which user an identity signs in
 * (`provisioning-decision.ts`; `security.md`, rule 15). Does not own the session itself (sign-in/), unconfirmed
 * sign-ups (sign-up/), nor the settings page of the links (account/).
 */

export { describeProviders } from './check/describe-providers.ts';
export { checkProviders } from './check/providers.ts';
export type { ProviderReport } from './check/report.ts';
export { createFederationModule, createUpstreamLogout, type FederationModule } from './create-federation.ts';
export { usableNames } from './create-user.ts';
export type { FederationHooks, UnverifiedAddress } from './deps.ts';
export { FederationError, type UpstreamIdentity, upstreamIdentitySchema } from './identity.ts';
export { type FederatedIdentity, isSameIdentity, listIdentities } from './identity-store.ts';
export {
  type DiscoveryDocument,
  fetchProviderDocument,
  type ProviderDocument,
  readProviderDocument,
} from './import/provider-document.ts';
export { isLinked, type LinkedSubject, linkImported } from './imported.ts';
export {
  federationDataSource,
  findLinkProvider,
  isProviderConfigured,
  listLinkedSince,
  providerName,
  toAccountLabel,
  unlink,
  unlinkAddedSince,
} from './linked-identities.ts';
export {
  acceptsBrowser,
  isEmbeddedBrowser,
  toKindMark,
  toProviderButton,
  toProviderButtons,
  toProviderMark,
} from './provider-buttons.ts';
export { standardProviderIds } from './providers/endpoints.ts';
export { isNameOfPerson } from './providers/profile-claims.ts';
export { hintedProvider, indexProviders, type Provider, type Providers, type StrategySettings } from './providers.ts';
export { listRefusals } from './refusals.ts';
export { linkCurrentIdentity } from './required-second-factor.ts';
export { type ProviderMetadata, readCertificate } from './saml/provider-metadata.ts';
export { leadsToLink, loginPageAfter, noticeText, takeSignInNotice } from './sign-in-notices.ts';
export { openStrategies } from './strategies.ts';
