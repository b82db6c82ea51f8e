import {
  byStandardKind,
  type StandardKind,
  type StandardProvider,
  standardProviders,
} from '../../../config/standard-providers.ts';
import { toProviderId } from '../../shared/index.ts';
import type { StrategySettings } from '../providers.ts';

/** The configuration of these names no id: the kind is the id. */
export const standardProviderIds = byStandardKind((kind) => toProviderId(kind));

/** The endpoints of a standard provider; a stand-in has the same paths at one address. */
export function standardEndpoints(
  kind: StandardKind,
  config: Pick<StrategySettings['config'], (typeof standardProviders)[StandardKind]['urlVariable']>,
): StandardProvider['endpoints'] {
  const { endpoints, urlVariable } = standardProviders[kind];
  const standIn = config[urlVariable];
  const at = (endpoint: string) =>
    standIn === undefined ? endpoint : new URL(new URL(endpoint).pathname, standIn).href;
  return {
    authorization: at(endpoints.authorization),
    token: at(endpoints.token),
    profile: at(endpoints.profile),
  };
}
