import { findMethodFaults } from '../config/checks.ts';
import { type Config, ConfigurationError, inspectConfig, loadConfig } from '../config/load.ts';
import { loadPlans, PlansFileError } from '../config/plans.ts';
import { loadProviders, ProvidersFileError } from '../config/providers.ts';
import { readTextReplacements } from '../config/texts-folder.ts';
import { texts } from '../locales/index.ts';
import { findDataFolderFault, listStoreFiles } from './data-folder-fault.ts';
import { isCallId, replaceTexts } from './http/index.ts';
import { findImprintFaults, LegalFilesError, loadLegal, shippedLegalDir } from './sign-in/index.ts';

/** The faults with which a reader of files ends. @throws any other error of `read` */
function faultsOfReading(
  read: () => unknown,
  kind: new (...args: never[]) => Error & { readonly faults: readonly string[] },
): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof kind) return error.faults;
    throw error;
  }
}

type LegalSettings = Pick<Config, 'LEGAL_DIR' | 'BRAND_NAME' | 'PUBLIC_URL'>;

/** @throws {LegalFilesError} */
export const loadLegalTexts = ({ LEGAL_DIR: dir, BRAND_NAME: brand, PUBLIC_URL: publicUrl }: LegalSettings) =>
  loadLegal(dir ?? shippedLegalDir, { brand, publicUrl });

/** In production the imprint must name the operator. */
export function findLegalFaults(config: LegalSettings & Pick<Config, 'production'>): string[] {
  const faults = faultsOfReading(() => loadLegalTexts(config), LegalFilesError);
  const all = faults.length === 0 && config.production ? findImprintFaults(config.LEGAL_DIR) : faults;
  return all.map((fault) => `LEGAL_DIR: ${fault}`);
}

const readReplacements = ({ TEXTS_DIR: folder }: Pick<Config, 'TEXTS_DIR'>) =>
  folder === undefined ? { texts: {}, count: 0, faults: [] } : readTextReplacements(folder, texts);

/** The faults of the folder, and how many texts it replaces. */
export function inspectTexts(config: Pick<Config, 'TEXTS_DIR'>): { faults: string[]; count: number } {
  const { faults, count } = readReplacements(config);
  return { faults: faults.map((fault) => `TEXTS_DIR: ${fault}`), count };
}

/** Replaces texts in this process by those of the operator. */
export const applyTexts = (config: Pick<Config, 'TEXTS_DIR'>): void => replaceTexts(readReplacements(config).texts);

function findPlanFaults({ PLANS_FILE: file, PAYMENT_METHODS: methods }: Config): string[] {
  const faults = faultsOfReading(() => loadPlans(file), PlansFileError);
  return faults.length > 0
    ? faults.map((fault) => `PLANS_FILE: ${file ?? ''}: ${fault}`)
    : findMethodFaults(methods, loadPlans(file).currency);
}

/** Names of `API_LIMIT_CALLS` that are no calls. */
export const findCallLimitFaults = ({
  API_LIMIT_CALLS: limits = new Map(),
}: Pick<Config, 'API_LIMIT_CALLS'>): string[] =>
  [...limits.keys()]
    .filter((id) => !isCallId(id))
    .map((id) => `API_LIMIT_CALLS: there is no call ${id}; write a name from RateLimit-Policy, as in signUp`);

/** A sandbox writes its own file of providers at its start. */
function findProviderFileFaults({ PROVIDERS_FILE: file }: Config, environment: NodeJS.ProcessEnv): string[] {
  if (!environment.PROVIDERS_FILE) return [];
  const faults = faultsOfReading(() => loadProviders(file, environment), ProvidersFileError);
  return faults.map((fault) => `PROVIDERS_FILE: ${file ?? ''}: ${fault}`);
}

function findDataDirFaults({ DATA_DIR: path, DATABASE_URL, REDIS_URL }: Config): string[] {
  const files = listStoreFiles({ DATABASE_URL, REDIS_URL });
  const fault = files.length === 0 ? undefined : findDataFolderFault(path, files);
  return fault === undefined ? [] : [`DATA_DIR: ${fault}`];
}

/**
 * The configuration of a start: its variables, and the files and folders that they name.
 * @throws {ConfigurationError} with all faults together, before anything is opened or written
 */
export function loadSettings(environment: NodeJS.ProcessEnv): Config {
  const { faults, unreadable, config } = inspectConfig(environment);
  const readable = (name: keyof Config, find: () => string[]) => (unreadable.has(name) ? [] : find());
  const all = [
    ...faults,
    ...readable('LEGAL_DIR', () => findLegalFaults(config)),
    ...readable('TEXTS_DIR', () => inspectTexts(config).faults),
    ...readable('PLANS_FILE', () => findPlanFaults(config)),
    ...readable('PROVIDERS_FILE', () => findProviderFileFaults(config, environment)),
    ...readable('API_LIMIT_CALLS', () => findCallLimitFaults(config)),
    ...readable('DATA_DIR', () => findDataDirFaults(config)),
  ];
  if (all.length > 0) throw new ConfigurationError(all);
  return loadConfig(environment);
}
