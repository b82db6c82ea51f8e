import type { OidcProviderConfig, SamlProviderConfig } from '../../../config/providers.ts';
import {
  assertionPath,
  callbackPath,
  clientKeysPath,
  logoutPath,
  metadataPath,
  type Provider,
  type StrategySettings,
} from '../providers.ts';
import { isPermanent } from '../saml/identity.ts';
import { openStrategies } from '../strategies.ts';

interface ProviderDescription extends Pick<Provider, 'id' | 'kind' | 'name' | 'signUp' | 'secondFactor' | 'domains'> {
  /** Whether this provider can assign a subject to another person later, according to the configuration. */
  subject: 'permanent' | 'reusable';
  /** The values to register at the provider. */
  register: Record<string, string>;
}

/** According to the file: at a sign-in the format of the received NameID decides. */
export const mayReuse = (config: OidcProviderConfig | SamlProviderConfig): boolean =>
  config.kind === 'saml' && !isPermanent(config, config.nameIdFormat);

/** Every configured provider, in the order of the sign-in page. Makes no requests. */
export function describeProviders(settings: StrategySettings): ProviderDescription[] {
  const at = (path: string) => new URL(path, settings.publicUrl).href;
  const register = ({ id, saml, oidc, clientKeys }: Provider): Record<string, string> => {
    const logout = at(logoutPath(id));
    if (saml) return { metadata: at(metadataPath(id)), acs: at(assertionPath(id)), logout };
    const callback = at(callbackPath(id));
    const keys = clientKeys && { jwks: at(clientKeysPath(id)) };
    return oidc ? { callback, ...keys, backchannel_logout: logout, frontchannel_logout: logout } : { callback };
  };
  const reusable = new Set(settings.file.providers.filter(mayReuse).map(({ id }) => id));
  return openStrategies(settings).map((provider) => ({
    id: provider.id,
    kind: provider.kind,
    name: provider.name,
    signUp: provider.signUp,
    secondFactor: provider.secondFactor,
    domains: provider.domains,
    subject: reusable.has(provider.id) ? 'reusable' : 'permanent',
    register: register(provider),
  }));
}
