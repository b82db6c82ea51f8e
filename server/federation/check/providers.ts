import { callbackPath, type StrategySettings } from '../providers.ts';
import { checkOwnPair } from './certificates.ts';
import { checkOidc } from './oidc.ts';
import { type Checked, joinedReports, type ProviderReport } from './report.ts';
import { checkSaml } from './saml.ts';
import { checkStandard } from './standard.ts';

const standardIds = ['amazon', 'google', 'facebook'] as const;

/** Which of the three have credentials. */
export function configuredStandards({ config }: Pick<StrategySettings, 'config'>): (typeof standardIds)[number][] {
  const has = { amazon: config.AMAZON_CLIENT_ID, google: config.GOOGLE_CLIENT_ID, facebook: config.FACEBOOK_APP_ID };
  return standardIds.filter((id) => has[id] !== undefined);
}

/**
 * Asks every provider, all at once, whether it is as the configuration says. Nobody is signed in by it, and nothing changed.
 * @param only the id of one
 */
export async function checkProviders(settings: StrategySettings, only?: string): Promise<ProviderReport[]> {
  const { file, publicUrl, answerMs, now } = settings;
  const addressOf = (id: string) => new URL(callbackPath(id), publicUrl).href;
  const own: Checked = file.serviceProvider ? checkOwnPair(file.serviceProvider, now()) : { faults: [], warnings: [] };
  const checks: [string, () => Promise<Checked>][] = [
    ...configuredStandards(settings).map((id): [string, () => Promise<Checked>] => [
      id,
      () => checkStandard(id, settings, addressOf(id)),
    ]),
    ...file.providers.map((config): [string, () => Promise<Checked>] => [
      config.id,
      async () =>
        config.kind === 'oidc'
          ? checkOidc(config, addressOf(config.id), answerMs)
          : joinedReports(own, await checkSaml(config, now(), answerMs)),
    ]),
  ];
  const wanted = checks.filter(([id]) => only === undefined || id === only);
  return Promise.all(wanted.map(async ([id, check]) => ({ id, ...(await check()) })));
}
