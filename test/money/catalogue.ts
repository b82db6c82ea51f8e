/** The plans that these tests sell. They write the file, so they know names and amounts without the product. */
export interface SoldPlan {
  id: string;
  code: string;
  name: string;
  interval: 'month' | 'year';
  cents: number;
  /** It is sold by the seat: `cents` is the amount of one. */
  hasSeats: boolean;
  /** Free days with a card before the first charge. */
  trialDays?: number | undefined;
}

/** By the id of the plan; the catalogue sells to consumers, so that a start wants at least the days of a withdrawal. */
export const trialDays: Readonly<Record<string, number>> = { '11': 30, '14': 16 };

/** How many seats a plan that is sold by the seat can have. */
export const seatRange = { min: 1, max: 5 } as const;

/** Where plans are sold. */
export interface Market {
  currency: 'usd' | 'eur';
  /** Stripe computes the tax of each charge: in the amounts of plans, or added to them. */
  tax?: 'inclusive' | 'exclusive' | undefined;
}

/** For how long a member can pause a plan. */
export const pauseMonths = [1, 2, 3] as const;

const amounts: { name: string; month: number; year: number; hasSeats?: boolean }[] = [
  { name: 'Starter', month: 99, year: 900 },
  { name: 'Growth', month: 499, year: 5_000, hasSeats: true },
  { name: 'Scale', month: 899, year: 8_000 },
];

export const soldPlans: SoldPlan[] = amounts
  .flatMap(({ name, month, year, hasSeats = false }, rank) => [
    { id: String(10 + 2 * rank), code: `m-${month}`, name, interval: 'month' as const, cents: month * 100, hasSeats },
    { id: String(11 + 2 * rank), code: `y-${year}`, name, interval: 'year' as const, cents: year * 100, hasSeats },
  ])
  .map((plan) => ({ ...plan, trialDays: trialDays[plan.id] }));

export const freePlanId = '1';

/** Plans of a partner, for life: tier 1 and 2. */
export const partnerPlans = [1, 2].map((tier) => ({ id: String(100 + tier), name: `Partner ${tier}`, tier }));

export const findPlan = (id: string | null | undefined): SoldPlan | undefined => soldPlans.find((one) => one.id === id);

const texts = (name: string) => ({ summary: { en: `The plan ${name}` }, features: { en: [`All of ${name}`] } });

/** @param raisedCents added to each amount, as an operator raises prices */
export function catalogueFile({ currency, tax }: Market, raisedDollars = 0): string {
  const paid = amounts.flatMap(({ name, month, year, hasSeats }, rank) =>
    ([month, year] as const).map((dollars, at) => ({
      kind: 'paid',
      id: String(10 + 2 * rank + at),
      code: `${at === 0 ? 'm' : 'y'}-${dollars}`,
      planHash: `${name.toLowerCase()}-${at === 0 ? 'monthly' : 'yearly'}`,
      name,
      planType: at === 0 ? '1' : '2',
      planAmount: dollars + raisedDollars,
      ...texts(name),
      ...(hasSeats && { seats: seatRange }),
      trialDays: trialDays[String(10 + 2 * rank + at)],
      entitlements: [`level:${rank + 1}`],
    })),
  );
  const free = { kind: 'free', id: freePlanId, code: 'm-free', planHash: 'free-monthly', name: 'Free', planType: '1' };
  const trial = { lookupKey: 'Basic-Plan-M', name: 'Basic', days: 7, postSignUpDays: 30, entitlements: ['level:0'] };
  const partner = partnerPlans.map(({ id, name, tier }) => ({
    kind: 'partner',
    id,
    code: `partner-${tier}`,
    planHash: `partner-tier-${tier}`,
    name,
    tier,
    ...texts(name),
    entitlements: [`level:${tier}`],
  }));
  return JSON.stringify({
    currency,
    trial,
    defaultPlan: '10',
    graceDays: 7,
    // A withdrawal gives everything back, or keeps the share of the days.
    consumers: { withdrawalDays: 14, ...(currency === 'usd' && { refund: 'prorated' }) },
    pause: { months: pauseMonths },
    ...(tax && { tax: { automatic: true, behaviour: tax } }),
    formerCodes: [],
    plans: [{ ...free, ...texts('Free'), entitlements: ['level:0'] }, ...paid, ...partner],
  });
}
