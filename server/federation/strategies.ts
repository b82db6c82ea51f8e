import { standardKindsOnPages } from '../../config/standard-providers.ts';
import { createOidcProvider } from './providers/oidc.ts';
import { type Authenticator, createPassport } from './providers/passport.ts';
import { openSaml } from './providers/saml.ts';
import { openStandard } from './providers/standard.ts';
import type { Provider, StrategySettings } from './providers.ts';

/**
 * Every configured provider: the standard ones in the order of their buttons, then those of the file in its order.
 * @param passport an instance of its own, in which each strategy is registered under the id of its provider
 */
export function openStrategies(settings: StrategySettings, passport: Authenticator = createPassport()): Provider[] {
  const { file } = settings;
  const standard = standardKindsOnPages.map((kind) => openStandard(kind, settings, passport));
  const others = file.providers.map((one) =>
    one.kind === 'oidc' ? createOidcProvider(settings, passport, one) : openSaml(settings, passport, one),
  );
  return [...standard.filter((one) => one !== undefined), ...others];
}
