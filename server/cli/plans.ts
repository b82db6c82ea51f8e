import { type Config, loadConfig } from '../../config/load.ts';
import { loadPlans } from '../../config/plans.ts';
import {
  type Catalogue,
  createCatalogue,
  createStripe,
  type Drift,
  type ExpectedPrice,
  findDrift,
  type PlanAct,
  readPlansFromStripe,
  type StripeClient,
  StripeUnavailableError,
  syncPlans,
} from '../billing/index.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Result } from './io.ts';
import { counted, table } from './text.ts';

/** The dependencies of these commands: no store is opened. */
export interface PlanSetup {
  config: Config;
  catalogue: Catalogue;
}

/** @throws {ConfigurationError} @throws {PlansFileError} */
export function readPlanSetup(env: NodeJS.ProcessEnv): PlanSetup {
  const config = loadConfig(env);
  return { config, catalogue: createCatalogue(loadPlans(config.PLANS_FILE)) };
}

/** @throws {CliError} without keys */
export function createStripeFromConfig({ config }: Pick<PlanSetup, 'config'>): { client: StripeClient; mode: string } {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_API_URL: apiUrl } = config;
  if (secretKey === undefined)
    throw new CliError(exitCodes.trouble, 'STRIPE_SECRET_KEY is missing: without Stripe no plans are sold.');
  const mode = /_live_/.test(secretKey) ? 'live mode' : 'test mode';
  return { client: createStripe({ secretKey, apiUrl }), mode: `${new URL(apiUrl).host}, ${mode}` };
}

/** An outage of Stripe is for the operator, not a fault of Foyer. */
export async function withStripeErrors<T>(act: Promise<T>): Promise<T> {
  try {
    return await act;
  } catch (error) {
    if (error instanceof StripeUnavailableError) throw new CliError(exitCodes.trouble, `Stripe: ${error.message}`);
    throw error;
  }
}

const amount = (cents: number, currency: string) => `${(cents / 100).toFixed(2)} ${currency}`;
const every = ({ intervalCount, interval }: ExpectedPrice) =>
  `${intervalCount} ${interval}${intervalCount === 1 ? '' : 's'}`;
const inWords = (drift: Drift) =>
  'should' in drift
    ? `${drift.what} is ${drift.is}, not ${drift.should}`
    : 'is' in drift
      ? `${drift.what}: ${drift.is}`
      : drift.what;
const actInWords = (act: PlanAct) => ('id' in act ? `${act.act} ${act.id}` : act.act);

export async function listPlans({ catalogue }: PlanSetup): Promise<Result> {
  const { plans, currency, trial } = catalogue;
  const periods = { '1': 'monthly', '2': 'yearly' };
  const rows = plans.map((plan) => [
    ...[plan.id, plan.code, plan.name, plan.kind],
    plan.type === null ? '' : periods[plan.type],
    plan.kind === 'paid' ? amount(plan.amountCents, currency) : '',
    ...[plan.planKey, plan.entitlements.join(' ')],
  ]);
  const json = plans.map(({ id, code, planKey, name, kind, type, amountCents, lookupKey, tier, entitlements }) => ({
    id,
    code,
    plan_hash: planKey,
    name,
    kind,
    plan_type: type,
    amount: amountCents,
    currency,
    lookup_key: lookupKey,
    tier,
    entitlements,
  }));
  const begin = `Members begin with ${trial.name} (${trial.lookupKey}): ${trial.days} days, ${trial.postSignUpDays} in the post-signup flow.`;
  return {
    json,
    text: `${table(['id', 'code', 'name', 'kind', 'period', 'amount', 'handle', 'gives'], rows)}\n\n${begin}`,
  };
}

const wantedRow = ({ planId, lookupKey, productName, unitAmount, currency, ...period }: ExpectedPrice) => [
  ...[planId, lookupKey, productName, amount(unitAmount, currency)],
  every({ planId, lookupKey, productName, unitAmount, currency, ...period }),
];

export async function checkPlans(setup: PlanSetup): Promise<{ differing: number; result: Result }> {
  const { client, mode } = createStripeFromConfig(setup);
  const states = await withStripeErrors(readPlansFromStripe(client, setup.catalogue));
  const checked = states.map((state) => ({ wanted: state.expected, drift: findDrift(state) }));
  const differing = checked.filter(({ drift }) => drift.length > 0).length;
  const rows = checked.map(({ wanted: requested, drift }) => [
    ...wantedRow(requested),
    drift.map(inWords).join('; ') || 'ok',
  ]);
  const plans = checked.map(({ wanted: requested, drift }) => ({
    plan: requested.planId,
    lookup_key: requested.lookupKey,
    drift,
  }));
  return {
    differing,
    result: {
      json: { ok: differing === 0, plans },
      text: `${table(['plan', 'lookup key', 'product', 'amount', 'every', `at Stripe (${mode})`], rows)}`,
    },
  };
}

export async function syncPlansAtStripe(setup: PlanSetup, { dryRun }: { dryRun: boolean }): Promise<Result> {
  const { client, mode } = createStripeFromConfig(setup);
  const synced = await withStripeErrors(syncPlans(client, setup.catalogue, { dryRun }));
  const rows = synced.map(({ expected, acts }) => [
    ...wantedRow(expected),
    acts.map(actInWords).join('; ') || 'nothing to do',
  ]);
  const count = synced.reduce((sum, { acts }) => sum + acts.length, 0);
  const plans = synced.map(({ expected, drift, acts }) => ({
    plan: expected.planId,
    lookup_key: expected.lookupKey,
    drift,
    acts,
  }));
  const end = dryRun ? `${counted(count, 'act')} would be done; nothing was.` : `${counted(count, 'act')} done.`;
  return {
    json: { dry_run: dryRun, plans },
    text: `${table(['plan', 'lookup key', 'product', 'amount', 'every', dryRun ? 'would do' : 'did'], rows)}\n\nStripe (${mode}): ${end}`,
  };
}
