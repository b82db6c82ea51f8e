import { openAmazon } from './kinds/amazon.ts';
import { openFacebook } from './kinds/facebook.ts';
import { openGoogle } from './kinds/google.ts';
import { openOidc } from './kinds/oidc.ts';
import { openSaml } from './kinds/saml.ts';
import type { Provider, StrategySettings } from './providers.ts';

/** Every provider that is configured: Amazon and Google on top, then Facebook, then the file's in its order. */
export function openStrategies(settings: StrategySettings): Provider[] {
  const { file } = settings;
  const standard = [openAmazon(settings), openGoogle(settings), openFacebook(settings)];
  const others = file.providers.map((one) => (one.kind === 'oidc' ? openOidc(settings, one) : openSaml(settings, one)));
  return [...standard.filter((one) => one !== undefined), ...others];
}
