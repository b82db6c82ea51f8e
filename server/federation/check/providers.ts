import { type StandardKind, standardKindsOnPages, standardProviders } from '../../../config/standard-providers.ts';
import type { ProviderId } from '../../shared/index.ts';
import { standardProviderIds } from '../providers/endpoints.ts';
import { assertionPath, callbackPath, clientKeysPath, type StrategySettings } from '../providers.ts';
import { checkOwnCertificate } from './certificates.ts';
import { checkOidc } from './oidc.ts';
import { joinedReports, type ProviderCheckResult, type ProviderReport } from './report.ts';
import { checkSaml } from './saml.ts';
import { checkStandard } from './standard.ts';

/** The standard providers that have credentials. */
const configuredStandards = ({ config }: StrategySettings): StandardKind[] =>
  standardKindsOnPages.filter((kind) => config[standardProviders[kind].credentials.id.variable] !== undefined);

/**
 * Checks every provider in parallel against its configuration. It does not sign in, and changes nothing.
 * @param only the id of one
 */
export async function checkProviders(settings: StrategySettings, only?: string): Promise<ProviderReport[]> {
  const { file, publicUrl, answerMs, now } = settings;
  const at = (path: string) => new URL(path, publicUrl).href;
  const callbackUrl = (id: ProviderId) => at(callbackPath(id));
  const own: ProviderCheckResult = file.serviceProvider
    ? checkOwnCertificate(file.serviceProvider.certificate, now())
    : {};
  const saml = { hasKey: file.serviceProvider !== undefined, nowMs: now(), answerMs };
  const checks: [string, () => Promise<ProviderCheckResult>][] = [
    ...configuredStandards(settings).map((id): [string, () => Promise<ProviderCheckResult>] => [
      id,
      () => checkStandard(id, settings, callbackUrl(standardProviderIds[id])),
    ]),
    ...file.providers.map((config): [string, () => Promise<ProviderCheckResult>] => [
      config.id,
      async () =>
        config.kind === 'oidc'
          ? checkOidc({ config, answerMs, redirectUri: callbackUrl(config.id), keysUrl: at(clientKeysPath(config.id)) })
          : joinedReports(own, await checkSaml(config, { acs: at(assertionPath(config.id)), ...saml })),
    ]),
  ];
  const expected = checks.filter(([id]) => only === undefined || id === only);
  return Promise.all(expected.map(async ([id, check]) => ({ id, ...joinedReports(await check()) })));
}
