import { loadProviders, ProvidersFileError } from '../../../config/providers.ts';
import { standardKinds, standardProviders } from '../../../config/standard-providers.ts';
import { checkProviders } from '../../federation/index.ts';
import { judgeProviderFault, judgeProviders } from './checks-services.ts';
import type { Finding } from './finding.ts';
import type { Setup } from './setup.ts';

const variables = [...standardKinds.map((kind) => standardProviders[kind].credentials.id.variable), 'PROVIDERS_FILE'];

/** The file, and whether the providers match it. */
export async function checkFederation({ config, env, now, unreadable, web }: Setup): Promise<Finding[]> {
  if (variables.some((name) => unreadable(name))) return [];
  // The sandbox knows the addresses of its own stand-ins.
  if (!config.production && variables.every((name) => !env[name])) return [];
  try {
    const settings = { publicUrl: config.PUBLIC_URL, config, file: loadProviders(config.PROVIDERS_FILE, env), now };
    return judgeProviders(await checkProviders({ ...settings, ...(web.limitMs && { answerMs: web.limitMs }) }));
  } catch (error) {
    if (error instanceof ProvidersFileError) return error.faults.flatMap(judgeProviderFault);
    throw error;
  }
}
