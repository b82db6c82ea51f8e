import type { Config } from '../../config/load.ts';
import type { ProvidersFile } from '../../config/providers.ts';
import {
  type ProviderKind,
  type StandardVariable,
  standardKindsByCognitoName,
} from '../../config/standard-providers.ts';
import { HttpError, type Language, type RequestContext } from '../http/index.ts';
import { type ProviderId, toProviderId } from '../shared/index.ts';
import type { ProviderStrategy } from './provider-strategy.ts';
import type { RollOverStore } from './saml/certificate-roll-over.ts';
import type { SamlProviderOps } from './saml/types.ts';

/** The content of a valid logout token, with `sub`, `sid` or both (OpenID Connect Back-Channel Logout 1.0, section 2.4). */
export interface LogoutToken {
  issuer: string;
  subject: string | undefined;
  sid: string | undefined;
  jti: string;
  /** Until when it could be replayed. Milliseconds since the epoch. */
  untilMs: number;
}

export interface OidcLogout {
  /** @throws {FederationError} */
  read(token: string): Promise<LogoutToken>;
}

/** An identity provider, as every file of this module except the strategies sees it. */
export interface Provider {
  id: ProviderId;
  kind: ProviderKind;
  /** "Google", "Acme". */
  name: string;
  /** The configured text of its button by language. */
  label: Partial<Record<Language, string>>;
  /** A data: address; undefined: standard providers have built-in marks, others none. */
  logo: string | undefined;
  /** Typed addresses of these domains lead here. Lower case. */
  domains: readonly string[];
  signUp: boolean;
  secondFactor: 'ask' | 'sufficient' | 'required';
  /** Whether it refuses browsers inside other apps. */
  refusesEmbeddedBrowsers: boolean;
  strategy: ProviderStrategy;
  /** OpenID Connect only: the provider's logout tokens. */
  oidc?: OidcLogout | undefined;
  /** OpenID Connect only: the public keys with which Foyer is registered there. */
  clientKeys?: readonly object[] | undefined;
  /** SAML only: metadata, responses by POST, single logout. */
  saml?: SamlProviderOps | undefined;
}

export interface Providers {
  /** The standard ones first, in the order of their buttons, then in the order of the configuration. */
  all: readonly Provider[];
  byId(id: ProviderId): Provider | undefined;
  /** The provider that an address or a form names. */
  find(name: string): Provider | undefined;
  /** The provider of a typed address (home realm discovery). */
  forEmail(email: string): Provider | undefined;
}

/** RFC 8176 has no value for federation; other products use this one too. */
export const upstreamAmr = ({ secondFactor }: Pick<Provider, 'secondFactor'>): string[] =>
  secondFactor === 'sufficient' ? ['fed', 'mfa'] : ['fed'];

/** The settings of strategies. */
export interface StrategySettings {
  publicUrl: string;
  config: Pick<Config, StandardVariable>;
  file: ProvidersFile;
  now: () => number;
  /** Where certificates of signed metadata are stored; a command has none, and uses those of the file. */
  rollOver?: RollOverStore | undefined;
  /** Timeout of a provider; 10 s. */
  answerMs?: number | undefined;
}

/** The first of these addresses is registered at the provider, and must not change. */
export const callbackPath = (id: ProviderId) => `/federation/${id}/callback`;
export const assertionPath = (id: ProviderId) => `/federation/${id}/acs`;
export const metadataPath = (id: ProviderId) => `/federation/${id}/metadata`;
export const clientKeysPath = (id: ProviderId) => `/federation/${id}/jwks`;
export const logoutPath = (id: ProviderId) => `/federation/${id}/logout`;
export const requestPath = (id: ProviderId) => `/federation/${id}/request`;
export const finishPath = (id: ProviderId) => `/federation/${id}/finish`;

export function indexProviders(all: readonly Provider[]): Providers {
  const ids = new Map(all.map((provider) => [provider.id, provider]));
  const domains = new Map(all.flatMap((provider) => provider.domains.map((domain) => [domain, provider] as const)));
  return {
    all,
    byId: (id) => ids.get(id),
    find: (name) => ids.get(toProviderId(name)),
    forEmail: (email) => domains.get(email.slice(email.lastIndexOf('@') + 1).toLowerCase()),
  };
}

interface ProviderRegistry {
  providers: Providers;
  /** From now on these are in force; requests that are being answered keep the providers that they have found. */
  replace(all: readonly Provider[]): void;
}

/** The providers in force. Callers read them at each use, so that a reload changes all of them together. */
export function createProviderRegistry(all: readonly Provider[]): ProviderRegistry {
  let current = indexProviders(all);
  return {
    providers: {
      get all() {
        return current.all;
      },
      byId: (id) => current.byId(id),
      find: (name) => current.find(name),
      forEmail: (email) => current.forEmail(email),
    },
    replace(next) {
      current = indexProviders(next);
    },
  };
}

/** Amazon Cognito's values of `identity_provider` for its own providers; those of companies are configured. */
const cognitoNames: ReadonlyMap<string, ProviderKind> = new Map(
  [...standardKindsByCognitoName].map(([name, kind]) => [name.toLowerCase(), kind]),
);

/** The provider that a client app asks for, by its id or its name at Cognito; case-insensitive. */
export function hintedProvider({ all }: Pick<Providers, 'all'>, hint: string | undefined): Provider | undefined {
  const name = hint?.toLowerCase();
  if (name === undefined) return undefined;
  const kind = cognitoNames.get(name);
  return all.find(({ id }) => id.toLowerCase() === name) ?? all.find((provider) => provider.kind === kind);
}

/** The provider in a path. @throws {HttpError} notFound */
export function requireProvider(r: RequestContext, { providers }: { providers: Pick<Providers, 'find'> }): Provider {
  const provider = providers.find(r.param('provider'));
  if (!provider) throw new HttpError('notFound');
  return provider;
}
