import { userInfo } from 'node:os';
import { InvalidArgumentError, Option } from 'commander';
import {
  type BillingDeps,
  createStandInClock,
  type Difference,
  diffWithStripe,
  membershipDeps,
  type ReconcileResult,
  type RefundResult,
  reconcileAll,
  refundInvoice,
  toOfferedMethods,
} from '../billing/index.ts';
import { createLog } from '../http/index.ts';
import { createOutbox } from '../messages/index.ts';
import { standInForStripe, toRateLimits } from '../module-settings.ts';
import { noMetrics } from '../shared/index.ts';
import { deriveKey } from '../store/index.ts';
import type { Program } from './command.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Result } from './io.ts';
import { createStripeFromConfig, withStripeErrors } from './plans.ts';
import { counted, table } from './text.ts';

/** Stripe's time is the machine's, except for the sandbox's stand-in: another time would give other plans. */
export async function billingClock({ config, now }: Context): Promise<() => number> {
  const standIn = standInForStripe(config);
  if (!standIn) return now;
  const clock = createStandInClock(standIn, now);
  await clock.refresh();
  return clock.now;
}

/** The membership rules on the stores of a Foyer that may be running: its outbox sends the mails. */
async function createBillingRules(
  context: Context,
  log = createLog('silent'),
): Promise<{ deps: BillingDeps; mode: string }> {
  const { config, database, kv, boxes, catalogue, now } = context;
  const { client, mode } = createStripeFromConfig(context);
  const billingNow = await billingClock(context);
  const deps = membershipDeps({
    publicUrl: config.PUBLIC_URL,
    database,
    kv,
    now: billingNow,
    catalogue: catalogue(),
    stripe: client,
    outbox: createOutbox({ box: boxes.outbox, now }),
    log,
    methods: toOfferedMethods(config.PAYMENT_METHODS),
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

function toResult({ compared, repaired, left }: ReconcileResult, mode: string): Result {
  const rows = [...toRows(left, 'differs'), ...toRows(repaired, 'mended')];
  const sum = `${counted(compared, 'membership')} compared with Stripe (${mode}): ${left.length} differing, ${repaired.length} mended.`;
  const headings = ['', 'what', 'member', 'customer', 'detail'];
  const fault = `${counted(left.length, 'difference')} between Foyer and Stripe.`;
  return {
    json: { ok: left.length === 0, compared, differences: left.map(toJson), repaired: repaired.map(toJson) },
    text: rows.length > 0 ? `${table(headings, rows)}\n\n${sum}` : sum,
    error: left.length > 0 ? new CliError(exitCodes.refused, fault) : undefined,
  };
}

/** @throws {CliError} if Stripe does not answer */
async function diffBilling(context: Context): Promise<Result> {
  const { deps, mode } = await createBillingRules(context);
  return toResult(await withStripeErrors(diffWithStripe(deps)), mode);
}

/** @throws {CliError} if Stripe does not answer */
async function reconcileBilling(context: Context): Promise<Result> {
  const { deps, mode } = await createBillingRules(context);
  return toResult(await withStripeErrors(reconcileAll(deps)), mode);
}

const ends = ['keep', 'period-end', 'at-once'] as const;

interface RefundOptions {
  amount?: number;
  end?: (typeof ends)[number];
}

/** In the plans' currency, with or without cents. */
function parseAmount(text: string): number {
  const [, whole = '', cents = '0'] = /^(\d{1,7})(?:\.(\d\d))?$/.exec(text) ?? [];
  const amount = Number(whole) * 100 + Number(cents);
  if (amount < 1) throw new InvalidArgumentError('Write an amount as 99 or 49.50.');
  return amount;
}

const toDecimal = (cents: number) => (cents / 100).toFixed(2);

function toRefundResult(result: RefundResult, { invoice }: { invoice: string }): Result {
  switch (result.kind) {
    case 'unknown-invoice':
      throw new CliError(exitCodes.notFound, `There is no paid invoice ${invoice}.`);
    case 'too-much':
      throw new CliError(exitCodes.refused, `Only ${toDecimal(result.leftCents)} of it can be refunded.`);
    case 'refused':
      throw new CliError(exitCodes.refused, `Stripe refuses it: ${result.message}`);
    case 'refunded':
    case 'noted': {
      const { order, amountCents, kind } = result;
      const amount = toDecimal(amountCents);
      const outcome =
        kind === 'refunded'
          ? `${amount} of ${invoice} refunded.`
          : `Stripe does not answer: the refund of ${amount} of ${invoice} is noted, and made as soon as it does.`;
      return { json: { outcome: kind, invoice: order.invoiceId, amount, user: order.userId }, text: outcome };
    }
  }
}

/** Logged to standard error, with the operator; also in the credit note's metadata at Stripe. */
async function refund(context: Context, invoice: string, { amount, end }: RefundOptions): Promise<Result> {
  const log = createLog('info', { write: (line) => void context.io.stderr.write(line) });
  const { deps } = await createBillingRules(context, log);
  const operator = userInfo().username;
  return toRefundResult(await refundInvoice(deps, { invoice, amountCents: amount, end, operator }), { invoice });
}

export function billingCommands({ group }: Program): void {
  const add = group('billing', 'memberships and orders, compared with Stripe');
  add('diff', {
    description: 'compare every membership and order with Stripe, and change nothing',
    json: 'print JSON: {"ok", "compared", "differences": [{"what", "user", "customer", "detail"}], "repaired"}',
    help: `
Exit code 1 when something differs. A few members a second. What to do about each is in docs/operating.md.

Example:
  foyer billing diff`,
    run: () => diffBilling,
  });
  add('reconcile', {
    description: 'the same, and make equal what can be: a running Foyer does it every day',
    json: 'print JSON: {"ok", "compared", "differences": [...], "repaired": [...]}',
    help: `
Stripe is right: what is stored here is read anew from it, orders that are missing are written, and mails that were not
sent go out by the running Foyer's outbox. At Stripe only subscriptions with another billing mode are changed: they are
migrated to the one that discounts are itemized in. No one is charged. Exit code 1 when something is left that only you
can mend.

Example:
  foyer billing reconcile`,
    run: () => reconcileBilling,
  });
  add('refund', {
    description: 'refund a paid invoice, by a credit note',
    args: [['<invoice>', 'its id at Stripe (in_…), or the number on it']],
    options: [
      new Option('--amount <amount>', 'as 99 or 49.50; by default everything that is not refunded yet').argParser(
        parseAmount,
      ),
      new Option('--end <when>', 'whether the plan ends; by default as the catalogue says (onFullRefund)').choices(
        ends,
      ),
    ],
    json: 'print JSON: {"outcome": "refunded" or "noted", "invoice", "amount", "user"}',
    help: `
The member gets a mail, and the credit note stands in the list of invoices. The log names you and the amount (act=refund).
While Stripe does not answer, the refund is noted, and a running Foyer makes it.

Example:
  foyer billing refund in_1PqR --amount 49.50 --end period-end`,
    run: (invoice: string, options: RefundOptions) => (context) => refund(context, invoice, options),
  });
}
