import type { OidcProviderConfig, SamlProviderConfig } from '../../../config/providers.ts';
import type { ProviderId } from '../../shared/index.ts';
import {
  assertionPath,
  callbackPath,
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
  const register = (id: ProviderId, kind: Provider['kind']): Record<string, string> =>
    kind === 'saml'
      ? { metadata: at(metadataPath(id)), acs: at(assertionPath(id)), logout: at(logoutPath(id)) }
      : { callback: at(callbackPath(id)) };
  const reusable = new Set(settings.file.providers.filter(mayReuse).map(({ id }) => id));
  return openStrategies(settings).map(({ id, kind, name, signUp, secondFactor, domains }) => ({
    id,
    kind,
    name,
    signUp,
    secondFactor,
    domains,
    subject: reusable.has(id) ? 'reusable' : 'permanent',
    register: register(id, kind),
  }));
}
