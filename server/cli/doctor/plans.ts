import { loadPlans, type PlansFile, PlansFileError } from '../../../config/plans.ts';
import {
  createCatalogue,
  createStripe,
  findDrift,
  readPlansFromStripe,
  StripeUnavailableError,
} from '../../billing/index.ts';
import { counted } from '../text.ts';
import { type Finding, findingsFor } from './finding.ts';
import type { Setup } from './setup.ts';

const { ok, note, warning, fault } = findingsFor('plans');

function readFile({ config }: Setup): { file: PlansFile } | { faults: readonly string[] } {
  try {
    return { file: loadPlans(config.PLANS_FILE) };
  } catch (error) {
    if (!(error instanceof PlansFileError)) throw error;
    return { faults: error.faults };
  }
}

/** Compares the catalogue with Stripe. */
async function atStripe({ config, say }: Setup, file: PlansFile, secretKey: string): Promise<Finding> {
  const client = createStripe({ secretKey, apiUrl: config.STRIPE_API_URL });
  try {
    const differing = (await readPlansFromStripe(client, createCatalogue(file))).filter(
      (state) => findDrift(state).length > 0,
    );
    if (differing.length === 0) return ok('plans.prices', 'Products and prices at Stripe are as the catalogue says.');
    const keys = differing.map(({ expected }) => expected.lookupKey).join(', ');
    return fault('plans.prices', {
      seen: `${counted(differing.length, 'price')} at Stripe not as the catalogue says: ${keys}.`,
      why: 'What is not there cannot be bought, and what differs costs something else than the pages say.',
      todo: 'Run `foyer plans check`, which says how they differ, and `foyer plans sync`.',
    });
  } catch (error) {
    return fault('plans.stripe', {
      seen: `Stripe does not answer: ${say(error instanceof StripeUnavailableError ? error.message : error)}`,
      why: 'No one can buy a plan or change one; members who have one keep it.',
      todo: 'Check STRIPE_SECRET_KEY, that this host may call the address, and https://status.stripe.com.',
    });
  }
}

// A valid choice, but worth a note: a forgotten variable looks the same.
const notSold = ok('plans.sold', 'STRIPE_SECRET_KEY is not set: no plans are sold, and members go on without one.');

/** The catalogue, and its prices at Stripe. */
export async function checkPlans(setup: Setup): Promise<Finding[]> {
  const { config, env, unreadable } = setup;
  if (unreadable('PLANS_FILE')) return [];
  const read = readFile(setup);
  if ('faults' in read) {
    return read.faults.map((seen) =>
      fault('plans.file', {
        seen: `PLANS_FILE: ${seen}`,
        why: 'Foyer does not start with this.',
        todo: 'Correct the file as docs/plans.md describes it; config/plans.json is an example.',
      }),
    );
  }
  const readable = ok('plans.file', `The catalogue has ${counted(read.file.plans.length, 'plan')}.`);
  const { STRIPE_SECRET_KEY: secretKey } = config;
  if (unreadable('STRIPE_SECRET_KEY') || unreadable('STRIPE_API_URL')) return [readable];
  if (secretKey === undefined) return [readable, notSold];
  // Without keys the sandbox's stand-in is used, which starts with the plans.
  if (env.STRIPE_SECRET_KEY === undefined) return [readable];
  const testMode = /_test_/.test(secretKey);
  const mode = config.production
    ? warning('plans.mode', {
        seen: 'STRIPE_SECRET_KEY is of test mode.',
        why: 'Everyone can have every plan with a test card, and no one is charged.',
        todo: 'Write the keys of live mode, and run `foyer plans sync` with them.',
      })
    : ok('plans.mode', 'Stripe’s keys are of test mode.');
  const live = config.production
    ? ok('plans.mode', 'Stripe’s keys are of live mode.')
    : note('plans.mode', {
        seen: 'STRIPE_SECRET_KEY is of live mode, though this is no production.',
        why: 'Each purchase that tries something out charges a real card.',
        todo: 'Write the keys of test mode.',
      });
  return [readable, testMode ? mode : live, await atStripe(setup, read.file, secretKey)];
}
