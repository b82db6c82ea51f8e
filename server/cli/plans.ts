import { type Config, loadConfig } from '../../config/load.ts';
import { loadPlans } from '../../config/plans.ts';
import {
  type Catalogue,
  createCatalogue,
  createStripe,
  type Drift,
  type ExpectedPrice,
  findDrift,
  type Plan,
  type PlanAct,
  readPlansFromStripe,
  type StripeClient,
  StripeUnavailableError,
  syncPlans,
} from '../billing/index.ts';
import type { Program } from './command.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Result } from './io.ts';
import { counted, table } from './text.ts';

/** The dependencies of these commands: no store is opened. */
interface PlanSetup {
  config: Config;
  catalogue: Catalogue;
}

/** @throws {ConfigurationError} @throws {PlansFileError} */
function readPlanSetup(env: NodeJS.ProcessEnv): PlanSetup {
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
const staysInWords = (members: number) => (members > 0 ? [`${counted(members, 'member')} on the old price`] : []);
const actInWords = (act: PlanAct) => ('id' in act ? `${act.act} ${act.id}` : act.act);

const perSeat = ({ seats }: Plan) => (seats === null ? '' : ` per seat, ${seats.min} to ${seats.max}`);
const afterTrial = ({ trialDays: days }: Plan) => (days === null ? '' : ` after ${counted(days, 'free day')}`);

function listPlans({ catalogue }: PlanSetup): Result {
  const { plans, currency, trial } = catalogue;
  const periods = { '1': 'monthly', '2': 'yearly' };
  const rows = plans.map((plan) => [
    ...[plan.id, plan.code, plan.name, plan.kind],
    plan.type === null ? '' : periods[plan.type],
    plan.kind === 'paid' ? `${amount(plan.amountCents, currency)}${perSeat(plan)}${afterTrial(plan)}` : '',
    ...[plan.planKey, plan.entitlements.join(' ')],
  ]);
  const json = plans.map(
    ({ id, code, planKey, name, kind, type, amountCents, seats, trialDays, lookupKey, tier, entitlements }) => ({
      id,
      code,
      plan_hash: planKey,
      name,
      kind,
      plan_type: type,
      amount: amountCents,
      ...(seats && { seats }),
      ...(trialDays !== null && { trial_days: trialDays }),
      currency,
      lookup_key: lookupKey,
      tier,
      entitlements,
    }),
  );
  const begin = `Members begin with ${trial.name} (${trial.lookupKey}): ${trial.days} days, ${trial.postSignUpDays} in the post-signup flow.`;
  return {
    json,
    text: `${table(['id', 'code', 'name', 'kind', 'period', 'amount', 'handle', 'gives'], rows)}\n\n${begin}`,
  };
}

function toPriceRow(price: ExpectedPrice, words: string): string[] {
  const { planId, lookupKey, productName, unitAmount, currency } = price;
  return [planId, lookupKey, productName, amount(unitAmount, currency), every(price), words];
}
const priceTable = (heading: string, rows: string[][]) =>
  table(['plan', 'lookup key', 'product', 'amount', 'every', heading], rows);
const toPriceJson = ({ planId, lookupKey }: ExpectedPrice, drift: readonly Drift[]) => ({
  plan: planId,
  lookup_key: lookupKey,
  drift,
});

async function checkPlans(setup: PlanSetup): Promise<Result> {
  const { client, mode } = createStripeFromConfig(setup);
  const states = await withStripeErrors(readPlansFromStripe(client, setup.catalogue));
  const checked = states.map((state) => ({ expected: state.expected, drift: findDrift(state) }));
  const differing = checked.filter(({ drift }) => drift.length > 0).length;
  const rows = checked.map(({ expected, drift }) => toPriceRow(expected, drift.map(inWords).join('; ') || 'ok'));
  const fault = `${counted(differing, 'price')} at Stripe not as the catalogue says.`;
  return {
    json: { ok: differing === 0, plans: checked.map(({ expected, drift }) => toPriceJson(expected, drift)) },
    text: priceTable(`at Stripe (${mode})`, rows),
    error: differing > 0 ? new CliError(exitCodes.refused, fault) : undefined,
  };
}

async function syncPlansAtStripe(setup: PlanSetup, dryRun: boolean): Promise<Result> {
  const { client, mode } = createStripeFromConfig(setup);
  const synced = await withStripeErrors(syncPlans(client, setup.catalogue, { dryRun }));
  const rows = synced.map(({ expected, acts, staying }) =>
    toPriceRow(expected, [...acts.map(actInWords), ...staysInWords(staying)].join('; ') || 'nothing to do'),
  );
  const acts = counted(
    synced.reduce((sum, plan) => sum + plan.acts.length, 0),
    'act',
  );
  const end = dryRun ? `${acts} would be done; nothing was.` : `${acts} done.`;
  return {
    json: {
      dry_run: dryRun,
      plans: synced.map((plan) => ({
        ...toPriceJson(plan.expected, plan.drift),
        acts: plan.acts,
        staying: plan.staying,
      })),
    },
    text: `${priceTable(dryRun ? 'would do' : 'did', rows)}\n\nStripe (${mode}): ${end}`,
  };
}

export function planCommands({ group, io }: Program): void {
  const add = group('plans', 'the plans that members choose from, and their prices at Stripe');
  const setup = () => readPlanSetup(io.env);
  add('list', {
    description: 'the catalogue: PLANS_FILE, or the one that comes with Foyer',
    json: 'print JSON; amounts in cents',
    help: '\nDoes not ask Stripe.\n\nExample:\n  foyer plans list',
    run: () => listPlans(setup()),
  });
  add('check', {
    description: 'compare products and prices at Stripe with the catalogue',
    json: 'print JSON: {"ok", "plans": [{"plan", "lookup_key", "drift": [...]}]}',
    help: '\nChanges nothing; exit code 1 when something differs. `foyer plans sync` mends it.\n\nExample:\n  foyer plans check',
    run: () => checkPlans(setup()),
  });
  add('sync', {
    description: 'make products and prices at Stripe what the catalogue says',
    options: [['--dry-run', 'say what would be done, and do nothing']],
    json: 'print JSON: {"dry_run", "plans": [{"plan", "lookup_key", "drift", "acts": [...], "staying"}]}',
    help: `
Finds prices by their lookup key. An amount cannot be changed at Stripe: a new price takes the lookup key, the old one is
archived, and who has subscribed to it keeps it (\`staying\` counts them). May be run any number of times.

Example:
  foyer plans sync --dry-run`,
    run: ({ dryRun = false }: { dryRun?: boolean }) => syncPlansAtStripe(setup(), dryRun),
  });
}
