import type { OidcProviderConfig, SamlProviderConfig } from '../../../config/providers.ts';
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

export interface ProviderDescription
  extends Pick<Provider, 'id' | 'kind' | 'name' | 'signUp' | 'secondFactor' | 'domains'> {
  /** Whether a subject of this provider can be given to another person later: as far as the configuration says. */
  subject: 'permanent' | 'reusable';
  /** What to tell the provider. */
  register: Record<string, string>;
}

/** As far as the file says: at a sign-in the format of the NameID that came decides. */
export const mayReuse = (config: OidcProviderConfig | SamlProviderConfig): boolean =>
  config.kind === 'saml' && !isPermanent(config, config.nameIdFormat);

/** Every provider that is configured, in the order of the sign-in page. Asks nobody. */
export function describeProviders(settings: StrategySettings): ProviderDescription[] {
  const at = (path: string) => new URL(path, settings.publicUrl).href;
  const register = (id: string, kind: Provider['kind']): Record<string, string> =>
    kind === 'saml'
      ? { metadata: at(metadataPath(id)), acs: at(assertionPath(id)), logout: at(logoutPath(id)) }
      : { callback: at(callbackPath(id)) };
  const reusable = new Set(settings.file.providers.filter(mayReuse).map(({ id }) => id));
  return openStrategies(settings).map(({ id, kind, name, signUp, secondFactor, domains }) => ({
    ...{ id, kind, name, signUp, secondFactor, domains, subject: reusable.has(id) ? 'reusable' : 'permanent' },
    register: register(id, kind),
  }));
}
