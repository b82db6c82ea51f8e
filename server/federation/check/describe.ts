import {
  assertionPath,
  callbackPath,
  logoutPath,
  metadataPath,
  type Provider,
  type StrategySettings,
} from '../providers.ts';
import { openStrategies } from '../strategies.ts';

export interface ProviderDescription
  extends Pick<Provider, 'id' | 'kind' | 'name' | 'signUp' | 'secondFactor' | 'domains'> {
  /** What to tell the provider. */
  register: Record<string, string>;
}

/** Every provider that is configured, in the order of the sign-in page. Asks nobody. */
export function describeProviders(settings: StrategySettings): ProviderDescription[] {
  const at = (path: string) => new URL(path, settings.publicUrl).href;
  const register = (id: string, kind: Provider['kind']): Record<string, string> =>
    kind === 'saml'
      ? { metadata: at(metadataPath(id)), acs: at(assertionPath(id)), logout: at(logoutPath(id)) }
      : { callback: at(callbackPath(id)) };
  return openStrategies(settings).map(({ id, kind, name, signUp, secondFactor, domains }) => ({
    ...{ id, kind, name, signUp, secondFactor, domains },
    register: register(id, kind),
  }));
}
