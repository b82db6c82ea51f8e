import { findMethodFaults } from '../../../config/checks.ts';
import { loadPlans, type PlansFile, PlansFileError } from '../../../config/plans.ts';
import {
  createCatalogue,
  createStripe,
  findDrift,
  listMissingTaxSettings,
  readPlansFromStripe,
  StripeUnavailableError,
} from '../../billing/index.ts';
import { judgeMethodFault, judgePlanFault, judgePlans } from './checks-services.ts';
import type { Finding } from './finding.ts';
import type { Setup } from './setup.ts';

async function readPrices({ config, say }: Setup, file: PlansFile, secretKey: string) {
  const client = createStripe({ secretKey, apiUrl: config.STRIPE_API_URL });
  try {
    const states = await readPlansFromStripe(client, createCatalogue(file));
    const differing = states.filter((state) => findDrift(state).length > 0);
    const missingTaxSettings = file.tax?.automatic ? await listMissingTaxSettings(client) : undefined;
    return { differing: differing.map(({ expected }) => expected.lookupKey), missingTaxSettings };
  } catch (error) {
    return { failed: say(error instanceof StripeUnavailableError ? error.message : error) };
  }
}

/** The catalogue, its prices at Stripe, and whether members can pay in its currency as the configuration says. */
export async function checkPlans(setup: Setup): Promise<Finding[]> {
  const { config, unreadable } = setup;
  if (unreadable('PLANS_FILE')) return [];
  let file: PlansFile;
  try {
    file = loadPlans(config.PLANS_FILE);
  } catch (error) {
    if (error instanceof PlansFileError) {
      const { faults } = error;
      return faults.flatMap((one) => judgePlanFault(`${config.PLANS_FILE ?? ''}: ${one}`));
    }
    throw error;
  }
  const methods = unreadable('PAYMENT_METHODS') ? [] : findMethodFaults(config.PAYMENT_METHODS, file.currency);
  return [...methods.flatMap(judgeMethodFault), ...(await checkPrices(setup, file))];
}

async function checkPrices(setup: Setup, file: PlansFile): Promise<Finding[]> {
  const { config, env, unreadable } = setup;
  const facts = {
    count: file.plans.length,
    production: config.production,
    graceDays: file.graceDays,
    taxed: file.tax !== undefined,
  };
  const { STRIPE_SECRET_KEY: secretKey } = config;
  if (unreadable('STRIPE_SECRET_KEY') || unreadable('STRIPE_API_URL')) return judgePlans({ ...facts, mode: 'unknown' });
  // A valid choice, but worth a note: a forgotten variable looks the same.
  if (secretKey === undefined) return judgePlans({ ...facts, mode: 'none' });
  // Without keys the sandbox's stand-in is used, which starts with the plans.
  if (env.STRIPE_SECRET_KEY === undefined) return judgePlans({ ...facts, mode: 'unknown' });
  const mode = /_test_/.test(secretKey) ? 'test' : 'live';
  return judgePlans({ ...facts, mode, ...(await readPrices(setup, file, secretKey)) });
}
