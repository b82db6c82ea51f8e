/**
 * The room of providers by which members sign in: Google, Facebook, Amazon, SAML 2.0 and any OpenID Connect one.
 *
 * Owns how they are asked (`passport.authenticate`, which nothing else in the house calls), the attempts that are under way,
 * the links between members and who they are there, and the one rule of who gets in as whom (`provision.ts`;
 * `security.md`, rule 15). Does not own the way in itself (sign-in/), accounts that are only begun (sign-up/), nor the page
 * of the settings on which links are looked after (settings/).
 */
export type { Beginning } from './begin.ts';
export { describeProviders, type ProviderDescription } from './check/describe.ts';
export { checkProviders } from './check/providers.ts';
export type { ProviderReport } from './check/report.ts';
export type { Entering, FederationSettings, Upward } from './deps.ts';
export { doorOf, doorsOf, takes } from './doors.ts';
export { hintedProvider } from './hints.ts';
export {
  FederationRefusal,
  type ProviderKind,
  type RefusalKind,
  type UpstreamIdentity,
  upstreamIdentitySchema,
} from './identity.ts';
export {
  type FederatedIdentity,
  isSameIdentity,
  listIdentities,
} from './identity-store.ts';
export { isLinked, type LinkedSubject, linkImported } from './imported.ts';
export { standardIssuers } from './kinds/endpoints.ts';
export { isNameOfPerson } from './kinds/person.ts';
export { linkWhoCame } from './linking.ts';
export {
  accountThere,
  federationHolding,
  isOffered,
  linkedSince,
  providerName,
  providerOfLink,
  unlink,
  unlinkSince,
} from './links.ts';
export { logoAddress } from './logo.ts';
export { namesOf } from './new-member.ts';
export { noticeText } from './notice-text.ts';
export { noticeOf, wayBack } from './notices.ts';
export { indexProviders, type Provider, type Providers, type StrategySettings } from './providers.ts';
export { type FederationRoom, openFederation } from './room.ts';
export { openStrategies } from './strategies.ts';
