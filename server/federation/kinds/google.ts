import type { Provider, StrategySettings } from '../providers.ts';

/** Undefined: not configured. */
export function openGoogle(_settings: StrategySettings): Provider | undefined {
  return undefined; // TO BE BUILT
}
