import type { Command } from 'commander';
import {
  type BillingDeps,
  createStandInClock,
  createWebhooks,
  type Difference,
  diffWithStripe,
  membershipDeps,
  type ReconcileResult,
  reconcileAll,
} from '../billing/index.ts';
import { standInForStripe, toRateLimits } from '../config-of-rooms.ts';
import { createLog } from '../http/index.ts';
import { createOutbox } from '../messages/index.ts';
import { noMetrics } from '../metrics/index.ts';
import { deriveKey } from '../store/index.ts';
import { type Context, withContext } from './context.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Act, CliIo, Result } from './io.ts';
import { createStripeFromConfig, withStripeErrors } from './plans.ts';
import { counted, table } from './text.ts';

/** Stripe's time is the machine's, except for the sandbox's stand-in: another time would give other plans. */
async function billingClock({ config, now }: Context): Promise<() => number> {
  const standIn = standInForStripe(config);
  if (!standIn) return now;
  const clock = createStandInClock(standIn, now);
  await clock.refresh();
  return clock.now;
}

/** The membership rules on the stores of a Foyer that may be running: its outbox sends the mails. */
async function createBillingRules(context: Context): Promise<{ deps: BillingDeps; mode: string }> {
  const { config, database, kv, boxes, catalogue, now } = context;
  const { client, mode } = createStripeFromConfig(context);
  const billingNow = await billingClock(context);
  const log = createLog('silent');
  const deps = membershipDeps({
    publicUrl: config.PUBLIC_URL,
    database,
    kv,
    now: billingNow,
    catalogue: catalogue(),
    stripe: client,
    outbox: createOutbox({ box: boxes.outbox, now }),
    log,
    limits: toRateLimits(config, { log, metrics: noMetrics }),
    trialKey: deriveKey(config.SECRET_KEYS[0] ?? '', 'trials', 32),
  });
  return { deps, mode };
}

const toJson = ({ kind, userId, customerId, detail }: Difference) => ({
  what: kind,
  user: userId,
  customer: customerId,
  detail,
});

const toRows = (differences: readonly Difference[], outcome: string) =>
  differences.map(({ kind, userId, customerId, detail }) => [outcome, kind, userId ?? '', customerId ?? '', detail]);

/** @returns the result, and the number of remaining differences */
function toResult({ compared, repaired, left }: ReconcileResult, mode: string): { left: number; result: Result } {
  const rows = [...toRows(left, 'differs'), ...toRows(repaired, 'mended')];
  const sum = `${counted(compared, 'membership')} compared with Stripe (${mode}): ${left.length} differing, ${repaired.length} mended.`;
  const headings = ['', 'what', 'member', 'customer', 'detail'];
  return {
    left: left.length,
    result: {
      json: { ok: left.length === 0, compared, differences: left.map(toJson), repaired: repaired.map(toJson) },
      text: rows.length > 0 ? `${table(headings, rows)}\n\n${sum}` : sum,
    },
  };
}

/** @throws {CliError} if Stripe does not answer */
async function diffBilling(context: Context): Promise<{ left: number; result: Result }> {
  const { deps, mode } = await createBillingRules(context);
  return toResult(await withStripeErrors(diffWithStripe(deps)), mode);
}

/** @throws {CliError} if Stripe does not answer */
async function reconcileBilling(context: Context): Promise<{ left: number; result: Result }> {
  const { deps, mode } = await createBillingRules(context);
  return toResult(await withStripeErrors(reconcileAll(deps, createWebhooks(deps))), mode);
}

export function billingCommands(program: Command, io: CliIo, act: Act): void {
  const billing = program.command('billing').description('memberships and orders, compared with Stripe');

  /** Remaining differences are printed after the result, and change the exit code. */
  async function run(
    compare: (context: Context) => Promise<{ left: number; result: Result }>,
    options: { json?: boolean },
  ): Promise<void> {
    let differing = 0;
    await act(
      () =>
        withContext(io, async (context) => {
          const { left, result } = await compare(context);
          differing = left;
          return result;
        }),
      options,
    );
    if (differing > 0)
      throw new CliError(exitCodes.refused, `${counted(differing, 'difference')} between Foyer and Stripe.`);
  }

  billing
    .command('diff')
    .description('compare every membership and order with Stripe, and change nothing')
    .option(
      '--json',
      'print JSON: {"ok", "compared", "differences": [{"what", "user", "customer", "detail"}], "repaired"}',
    )
    .addHelpText(
      'after',
      `
Exit code 1 when something differs. A few members a second. What to do about each is in docs/operating.md.

Example:
  foyer billing diff`,
    )
    .action((options: { json?: boolean }) => run(diffBilling, options));

  billing
    .command('reconcile')
    .description('the same, and make equal what can be: a running Foyer does it every hour')
    .option('--json', 'print JSON: {"ok", "compared", "differences": [...], "repaired": [...]}')
    .addHelpText(
      'after',
      `
Stripe is right: what is stored here is read anew from it, orders that are missing are written, and mails that were not
sent go out by the running Foyer's outbox. Nothing is changed at Stripe, and no one is charged. Exit code 1 when something
is left that only you can mend.

Example:
  foyer billing reconcile`,
    )
    .action((options: { json?: boolean }) => run(reconcileBilling, options));
}
