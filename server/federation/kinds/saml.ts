import type { SamlProviderConfig } from '../../../config/providers.ts';
import type { Provider, StrategySettings } from '../providers.ts';

export function openSaml(_settings: StrategySettings, _config: SamlProviderConfig): Provider {
  throw new Error('TO BE BUILT');
}
