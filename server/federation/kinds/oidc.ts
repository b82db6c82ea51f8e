import type { OidcProviderConfig } from '../../../config/providers.ts';
import type { Provider, StrategySettings } from '../providers.ts';

export function openOidc(_settings: StrategySettings, _config: OidcProviderConfig): Provider {
  throw new Error('TO BE BUILT');
}
