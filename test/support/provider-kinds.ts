import { byStandardKind, standardKinds, standardKindsOnPages } from '../../config/standard-providers.ts';

/** The ids of the providers of `startProviders`, by kind. */
export const providerIds = { ...byStandardKind((kind) => kind), oidc: 'acme-oidc', saml: 'acme-saml' } as const;

/** The providers that answer with a code. */
export const codeFlowKinds = [...standardKinds, 'oidc'] as const;

/** The ids in the order of the sign-in page. */
export const idsOnPages: readonly string[] = [...standardKindsOnPages, providerIds.oidc, providerIds.saml];
