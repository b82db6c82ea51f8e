import { loadProviders, type ProvidersFile, ProvidersFileError } from '../../../config/providers.ts';
import { checkProviders, type ProviderReport } from '../../federation/index.ts';
import { type Finding, findingsFor } from './finding.ts';
import type { Setup } from './setup.ts';

const { ok, warning, fault } = findingsFor('providers');

const variables = ['GOOGLE_CLIENT_ID', 'FACEBOOK_APP_ID', 'AMAZON_CLIENT_ID', 'PROVIDERS_FILE'];

function readFile({ config, env }: Setup): { file: ProvidersFile } | { faults: readonly string[] } {
  try {
    return { file: loadProviders(config.PROVIDERS_FILE, env) };
  } catch (error) {
    if (!(error instanceof ProvidersFileError)) throw error;
    return { faults: error.faults };
  }
}

function toFindings({ id, faults, warnings }: ProviderReport): Finding[] {
  const found = [
    ...faults.map((what) =>
      fault('providers.provider', {
        seen: `${id}: ${what}.`,
        why: 'Members who sign in by it cannot get in.',
        todo: `Mend it here or there, and run \`foyer provider check ${id}\`; docs/providers.md says what to register.`,
      }),
    ),
    ...warnings.map((what) =>
      warning('providers.provider', {
        seen: `${id}: ${what}.`,
        why: 'One day members who sign in by it may not get in.',
        todo: `See docs/providers.md, and run \`foyer provider check ${id}\` afterwards.`,
      }),
    ),
  ];
  return found.length > 0 ? found : [ok('providers.provider', `${id} is as the configuration says.`)];
}

/** The file, and whether the providers match it. */
export async function checkFederation(setup: Setup): Promise<Finding[]> {
  const { config, env, now, unreadable } = setup;
  if (variables.some((name) => unreadable(name))) return [];
  // The sandbox knows the addresses of its own stand-ins.
  if (!config.production && variables.every((name) => !env[name])) return [];
  const read = readFile(setup);
  if ('faults' in read) {
    return read.faults.map((seen) =>
      fault('providers.file', {
        seen: `PROVIDERS_FILE: ${seen}`,
        why: 'Foyer does not start with this.',
        todo: 'Correct the file as docs/providers.md describes it.',
      }),
    );
  }
  const answerMs = setup.web.limitMs;
  const settings = { publicUrl: config.PUBLIC_URL, config, file: read.file, now, ...(answerMs && { answerMs }) };
  const reports = await checkProviders(settings);
  if (reports.length === 0) return [ok('providers.none', 'No provider is configured: members sign in by themselves.')];
  return reports.flatMap(toFindings);
}
