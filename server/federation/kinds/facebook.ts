import type { Provider, StrategySettings } from '../providers.ts';

/** Undefined: not configured. */
export function openFacebook(_settings: StrategySettings): Provider | undefined {
  return undefined; // TO BE BUILT
}
