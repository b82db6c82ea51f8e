import { canPlace } from './address.ts';
import { share } from './money.ts';
import { newId } from './new-id.ts';
import type { Customer, Invoice, InvoiceLine, Subscription, TaxRate } from './objects.ts';
import { type Params, Reader } from './params.ts';
import type { State } from './state.ts';
import { hasForeignVatId } from './tax-ids.ts';
import { invalid, missing } from './types.ts';

/** Stripe Tax in a few countries: the standard rate, by the country of the customer's address. */
const vat: Record<string, number> = { AT: 20, BE: 21, DE: 19, ES: 21, FR: 20, IE: 23, IT: 22, LU: 17, NL: 21 };

/** Rates that apply together: as in the United States, by state, and in parts of it. */
const salesTax: Record<string, { level: 'state' | 'county'; percentage: number }[]> = {
  CA: [
    { level: 'state', percentage: 6 },
    { level: 'county', percentage: 1.25 },
  ],
};

type Behaviour = 'exclusive' | 'inclusive';

/** A rate that applies to a customer, with the reason. */
interface Applied {
  country: string;
  state: string | null;
  level: 'country' | 'state' | 'county';
  percentage: number;
  reason: 'standard_rated' | 'reverse_charge' | 'customer_exempt' | 'not_collecting';
}

const unplaced = () =>
  invalid(
    "The customer's location isn't recognized. Set a valid customer address in order to automatically calculate tax.",
    {
      code: 'customer_tax_location_invalid',
    },
  );

/** @throws StandInError if tax would be calculated for a customer whose location is unknown */
export function checkLocation(state: State, customer: string) {
  if (!state.isRehearsal() && !canPlace(state.get('customer', customer).address)) throw unplaced();
}

/** Sets `automatic_tax` of a call on a subscription. */
export function writeAutomaticTax(state: State, subscription: Subscription, reader: Reader) {
  const enabled = reader.object('automatic_tax', ['enabled'])?.bool('enabled');
  if (enabled === undefined) return;
  if (enabled) checkLocation(state, subscription.customer);
  subscription.automatic_tax = { disabled_reason: null, enabled, liability: enabled ? { type: 'self' } : null };
}

function toReason(state: State, customer: Customer): Applied['reason'] {
  const { tax_exempt: exempt } = customer;
  if (exempt === 'reverse' || hasForeignVatId(state, customer, taxSettings.head_office.address.country))
    return 'reverse_charge';
  return exempt === 'exempt' ? 'customer_exempt' : 'standard_rated';
}

function listApplied(all: State, customer: Customer): Applied[] {
  const { address } = customer;
  const [country, state] = [address?.country ?? '', address?.state ?? null];
  const isUs = country === 'US';
  const found = isUs
    ? (salesTax[state ?? ''] ?? [])
    : Object.entries(vat).flatMap(([code, percentage]) =>
        code === country ? [{ level: 'country' as const, percentage }] : [],
      );
  if (found.length === 0) return [{ country, state, level: 'country', percentage: 0, reason: 'not_collecting' }];
  const reason = toReason(all, customer);
  return found.map((one) => ({ country, state: isUs ? state : null, ...one, reason }));
}

/** The id says everything, so that the rate of a preview can be retrieved. */
const toRateId = ({ country, state, level, percentage, reason }: Applied, behaviour: Behaviour) =>
  `txr_auto_${[country, state ?? '', level, percentage, reason.replaceAll('_', '-'), behaviour].join('_')}`;

const automaticId =
  /^txr_auto_(?<country>[A-Z]{2})_(?<state>[^_]*)_(?<level>[a-z]+)_(?<percentage>[\d.]+)_(?<reason>[a-z-]+)_(?<behaviour>[a-z]+)$/;

function makeRate(about: Partial<TaxRate> & Pick<TaxRate, 'id' | 'percentage' | 'inclusive'>): TaxRate {
  return {
    object: 'tax_rate',
    active: true,
    country: null,
    created: 0,
    description: null,
    display_name: 'VAT',
    effective_percentage: about.percentage,
    flat_amount: null,
    jurisdiction: about.country ?? null,
    jurisdiction_level: null,
    livemode: false,
    metadata: {},
    rate_type: 'percentage',
    state: null,
    tax_type: 'vat',
    ...about,
  };
}

function toAutomaticRate(id: string): TaxRate | undefined {
  const { country, state, level, percentage, reason, behaviour } = automaticId.exec(id)?.groups ?? {};
  if (country === undefined) return undefined;
  const isUs = country === 'US';
  return makeRate({
    id,
    percentage: Number(percentage),
    effective_percentage: reason === 'standard-rated' ? Number(percentage) : 0,
    inclusive: behaviour === 'inclusive',
    active: false,
    country,
    state: state || null,
    display_name: isUs ? 'Sales tax' : 'VAT',
    jurisdiction_level: level as 'country',
    tax_type: isUs ? 'sales_tax' : 'vat',
  });
}

export function retrieveTaxRate(state: State, id: string, params: Params): TaxRate {
  new Reader(params, []);
  const rate = toAutomaticRate(id) ?? state.find('tax_rate', id);
  if (!rate) throw missing('tax rate', id, 'tax_rate');
  return rate;
}

/** A rate that the operator sets by hand. */
export function createTaxRate(state: State, params: Params): TaxRate {
  const reader = new Reader(params, ['display_name', 'percentage', 'inclusive', 'country', 'description', 'metadata']);
  const percentage = reader.number('percentage');
  if (percentage === undefined) throw invalid('Missing required param: percentage.', { param: 'percentage' });
  return state.put(
    makeRate({
      id: newId('txr'),
      percentage,
      effective_percentage: null,
      inclusive: reader.bool('inclusive') ?? false,
      display_name: reader.need('display_name'),
      country: reader.text('country') ?? null,
      description: reader.text('description') ?? null,
      created: state.now(),
      metadata: reader.metadata(),
      rate_type: null,
      tax_type: null,
    }),
  );
}

/** The rates that an operator sets on a subscription. */
export function writeTaxRates(state: State, subscription: Subscription, reader: Reader) {
  const ids = reader.texts('default_tax_rates');
  if (ids) subscription.default_tax_rates = ids.map((id) => structuredClone(state.get('tax_rate', id)));
}

/** One rate on a line. */
interface LineRate {
  id: string;
  percentage: number;
  behaviour: Behaviour;
  reason: Applied['reason'];
}

/** Thousandths of a percent, so that all arithmetic is of whole numbers. */
const toUnits = (percentage: number) => Math.round(percentage * 1_000);

/** The tax of a line, after its discounts; of a credit it is below 0. */
function calculateTaxes(line: InvoiceLine, rates: readonly LineRate[]): InvoiceLine['taxes'] {
  const net = line.amount - line.discount_amounts.reduce((sum, { amount }) => sum + amount, 0);
  if (net === 0) return [];
  const [size, sign] = [Math.abs(net), Math.sign(net)];
  const included = rates
    .filter(({ behaviour, reason }) => behaviour === 'inclusive' && reason === 'standard_rated')
    .reduce((sum, { percentage }) => sum + toUnits(percentage), 0);
  return rates.map(({ id, percentage, behaviour, reason }) => {
    const isTaxed = reason === 'standard_rated';
    const amount = isTaxed ? sign * share(size, toUnits(percentage), 100_000 + included) : 0;
    return {
      amount,
      tax_behavior: behaviour,
      tax_rate_details: { tax_rate: id },
      taxability_reason: reason,
      taxable_amount: !isTaxed ? 0 : behaviour === 'inclusive' ? net - amount : net,
      type: 'tax_rate_details',
    };
  });
}

/** A credit for unused time has tax only if tax was paid for that time. */
function creditsUntaxed(state: State, { parent }: InvoiceLine): boolean {
  const credited = parent?.invoice_item_details?.proration_details?.credited_items;
  const invoice = credited && state.find('invoice', String(credited.invoice));
  return invoice ? invoice.lines.data.every(({ taxes }) => (taxes ?? []).length === 0) : false;
}

function findRates(state: State, { subscription, customer, line }: Taxed & { line: InvoiceLine }): LineRate[] {
  if (creditsUntaxed(state, line)) return [];
  if (!subscription.automatic_tax.enabled) {
    return (subscription.default_tax_rates ?? []).map(({ id, percentage, inclusive }) => ({
      id,
      percentage,
      behaviour: inclusive ? 'inclusive' : 'exclusive',
      reason: 'standard_rated',
    }));
  }
  const { tax_behavior } = state.get('price', line.pricing.price_details.price);
  const behaviour = tax_behavior === 'inclusive' ? 'inclusive' : taxSettings.defaults.tax_behavior;
  return listApplied(state, customer).map((one) => ({ ...one, id: toRateId(one, behaviour), behaviour }));
}

interface Taxed {
  subscription: Subscription;
  customer: Customer;
}

/** The lines' taxes together: one for each rate. */
function sumTaxes(lines: readonly InvoiceLine[]): NonNullable<Invoice['total_taxes']> {
  const sums = new Map<string, NonNullable<Invoice['total_taxes']>[0]>();
  for (const tax of lines.flatMap(({ taxes }) => taxes ?? [])) {
    const id = tax.tax_rate_details?.tax_rate ?? '';
    const known = sums.get(id);
    if (!known) sums.set(id, { ...tax });
    else {
      known.amount += tax.amount;
      known.taxable_amount = (known.taxable_amount ?? 0) + (tax.taxable_amount ?? 0);
    }
  }
  return [...sums.values()];
}

/** The taxes of a new invoice. */
export interface InvoiceTax {
  automatic: Invoice['automatic_tax'];
  totals: NonNullable<Invoice['total_taxes']>;
  /** Cents that are added to the lines, and cents that are in them. */
  added: number;
  included: number;
}

const sumBy = (totals: InvoiceTax['totals'], behaviour: Behaviour) =>
  totals.reduce((sum, tax) => sum + (tax.tax_behavior === behaviour ? tax.amount : 0), 0);

/**
 * Writes the taxes of lines. Where the location is unknown, an invoice that a call makes is refused, a preview says so,
 * and a renewal goes on without tax: Stripe switches it off.
 */
export function taxLines(
  state: State,
  { subscription, customer }: Taxed,
  { lines, renews }: { lines: readonly InvoiceLine[]; renews: boolean },
): InvoiceTax {
  const none = { disabled_reason: null, enabled: false, liability: null, provider: null, status: null };
  const { enabled } = subscription.automatic_tax;
  if (enabled && !canPlace(customer.address)) {
    if (!renews) checkLocation(state, customer.id);
    const left = { totals: [], added: 0, included: 0 };
    if (state.isRehearsal()) {
      return { ...left, automatic: { ...none, enabled, provider: 'stripe', status: 'requires_location_inputs' } };
    }
    subscription.automatic_tax = { disabled_reason: 'requires_location_inputs', enabled: false, liability: null };
    return { ...left, automatic: { ...none, disabled_reason: 'finalization_requires_location_inputs' } };
  }
  for (const line of lines) line.taxes = calculateTaxes(line, findRates(state, { subscription, customer, line }));
  const totals = sumTaxes(lines);
  const automatic: Invoice['automatic_tax'] = enabled
    ? { ...none, enabled, liability: { type: 'self' }, provider: 'stripe', status: 'complete' }
    : none;
  return { automatic, totals, added: sumBy(totals, 'exclusive'), included: sumBy(totals, 'inclusive') };
}

/** The account's settings of Stripe Tax. */
export const taxSettings = {
  object: 'tax.settings' as const,
  defaults: { provider: 'stripe', tax_behavior: 'exclusive' as const, tax_code: 'txcd_10103001' },
  head_office: {
    address: {
      city: 'Berlin',
      country: 'DE',
      line1: 'Invalidenstraße 1',
      line2: null,
      postal_code: '10115',
      state: null,
    },
  },
  livemode: false,
  status: 'active' as const,
  status_details: { active: {} },
};
