import { isNode, listSources, type Node, parseNodes, readSource } from './parsed-source.ts';

/**
 * Announced amounts come from Stripe's previews, and are computed in two modules alone: the next charge, and the lines of an
 * invoice. An amount that a page or a mail computed by itself would sooner or later differ from the charge.
 */
const announcing = new Set(['server/billing/stripe/next-charge.ts', 'server/billing/stripe/stripe-invoices.ts']);

/** The other files that compute with cents announce no charge: each with the reason. */
const others: Record<string, string> = {
  'server/billing/api/plan-operations.ts': 'the order of plans',
  'server/billing/catalogue/catalogue.ts': 'the price of all seats of a plan, by which plans and codes are compared',
  'server/billing/stripe/stripe-objects.ts': 'what a charge leaves to the one after it',
  'server/billing/stripe/wire-format.ts': 'an amount as text',
  'views/format.ts': 'an amount as text',
  'server/cli/billing.ts': 'an amount as text',
  'server/cli/plans.ts': 'an amount as text',
  'server/billing/checkout/choose-plan-handlers.ts': 'what a year saves, in percent and per month',
  'server/billing/orders/money-back.ts': 'the sum of the refunds of a payment',
  'server/billing/orders/refunds.ts': 'how much more was given back',
  'server/billing/orders/order.ts': 'the price of an order, and the part of a payment that can be given back',
  'server/billing/orders/refund-invoice.ts': 'what is left to give back of a payment',
  'server/billing/orders/refund-task.ts': 'what is left to give back of a payment',
  'server/billing/subscription/withdrawal-rules.ts': 'the share of a payment for the days until a withdrawal',
  'server/billing/subscription/unused-time.ts': 'an amount of Stripe, divided between the payments that it gives back',
};

const arithmetic = new Set(['+', '-', '*', '/', '%', '+=', '-=', '*=', '/=']);
const amountName = /Cents$|^cents$|^(?:amount_due|amount_paid|amount_remaining|starting_balance|ending_balance)$/;

/** The last name of an operand: `cents` of `order.cents`. */
function nameOf(value: unknown): string {
  if (!isNode(value)) return '';
  if (value.type === 'Identifier') return String(value.name);
  if (value.type === 'MemberExpression') return nameOf(value.property);
  // `(a.cents ?? 0)`, `a.cents!` and `(a.cents as number)`
  if (value.type === 'LogicalExpression') return nameOf(value.left);
  return nameOf(value.expression ?? value.argument);
}

const isZero = (value: unknown): boolean => isNode(value) && value.type === 'Literal' && value.value === 0;

/** Tests for arithmetic on an amount; `0 - cents` shows a credit as a positive number. */
function computes({ type, operator, left, right }: Node): boolean {
  if (type !== 'BinaryExpression' && type !== 'AssignmentExpression') return false;
  if (!arithmetic.has(String(operator)) || isZero(left) || isZero(right)) return false;
  return [left, right].some((side) => amountName.test(nameOf(side)));
}

const computesCents = (file: string, text: string): boolean => parseNodes(file, text).some(computes);

const files = listSources('server', 'views', 'client').filter((file) => computesCents(file, readSource(file)));

describe('Arithmetic on amounts', () => {
  it('No other file computes an amount that is announced', () => {
    expect(files.filter((file) => !announcing.has(file) && others[file] === undefined)).toEqual([]);
  });

  it('Both modules compute, and every exception is still needed', () => {
    expect([...announcing, ...Object.keys(others)].filter((file) => !files.includes(file))).toEqual([]);
  });

  it.each([
    'const later = regularCents - discountCents;',
    'const due = plan.amountCents * 2;',
    'const left = (order.paidCents ?? 0) - other;',
    'let sum = 0; sum += line.amountCents;',
    'const credit = invoice.total - invoice.amount_due;',
    'const half = quote.dueCents! / 2;',
  ])('“%s” is found', (text) => {
    expect(computesCents('example.ts', text)).toBe(true);
  });

  it.each(['const credit = 0 - balanceCents;', 'const is = dueCents > 0;', 'const at = nowMs + 5;'])(
    '“%s” is no such arithmetic',
    (text) => {
      expect(computesCents('example.ts', text)).toBe(false);
    },
  );
});
