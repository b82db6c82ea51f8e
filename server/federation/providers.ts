import type { Config } from '../../config/load.ts';
import type { ProvidersFile } from '../../config/providers.ts';
import type { Language } from '../http/index.ts';
import type { ProviderKind } from './identity.ts';
import type { ProviderStrategy } from './provider-strategy.ts';
import type { SamlProviderOps } from './saml/types.ts';

/** A provider by which members sign in, as every file of this room but the strategies sees it. */
export interface Provider {
  id: string;
  kind: ProviderKind;
  /** "Google", "Acme". */
  name: string;
  /** What its button says in a language, where something else than usual was configured. */
  label: Partial<Record<Language, string>>;
  /** A data: address; undefined: google, facebook and amazon have marks of ours, others none. */
  logo: string | undefined;
  /** Whose addresses lead here when they are typed. Lower case. */
  domains: readonly string[];
  signUp: boolean;
  secondFactor: 'ask' | 'sufficient' | 'required';
  /** Google and Facebook turn away browsers that are built into other apps. */
  refusesEmbeddedBrowsers: boolean;
  strategy: ProviderStrategy;
  /** What only SAML's have: metadata, answers by post, single logout. */
  saml?: SamlProviderOps | undefined;
}

export interface Providers {
  /** In the order of the configuration; Amazon, Google and Facebook first. */
  all: readonly Provider[];
  byId(id: string): Provider | undefined;
  /** To whose provider a typed address leads (home realm discovery). */
  forEmail(email: string): Provider | undefined;
}

/** What strategies are made from. */
export interface StrategySettings {
  publicUrl: string;
  config: Pick<
    Config,
    | 'GOOGLE_CLIENT_ID'
    | 'GOOGLE_CLIENT_SECRET'
    | 'GOOGLE_URL'
    | 'FACEBOOK_APP_ID'
    | 'FACEBOOK_APP_SECRET'
    | 'FACEBOOK_URL'
    | 'AMAZON_CLIENT_ID'
    | 'AMAZON_CLIENT_SECRET'
    | 'AMAZON_URL'
  >;
  file: ProvidersFile;
  now: () => number;
  /** For how long a provider may let a member wait; 10 s. */
  answerMs?: number | undefined;
}

/** Of these addresses the first is told to the provider, and must not change. */
export const callbackPath = (id: string) => `/federation/${id}/callback`;
export const assertionPath = (id: string) => `/federation/${id}/acs`;
export const metadataPath = (id: string) => `/federation/${id}/metadata`;
export const logoutPath = (id: string) => `/federation/${id}/logout`;
export const finishPath = (id: string) => `/federation/${id}/finish`;

export function indexProviders(all: readonly Provider[]): Providers {
  const ids = new Map(all.map((provider) => [provider.id, provider]));
  const domains = new Map(all.flatMap((provider) => provider.domains.map((domain) => [domain, provider] as const)));
  return {
    all,
    byId: (id) => ids.get(id),
    forEmail: (email) => domains.get(email.slice(email.lastIndexOf('@') + 1).toLowerCase()),
  };
}
