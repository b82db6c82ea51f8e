import { join } from 'node:path';
import { z } from 'zod';
import { listSaleFaults } from './sale-faults.ts';
import { NotUtf8Error, readUtf8File } from './text-file.ts';

/**
 * The catalogue of plans (the specification's section 9, default plan ids): a JSON file, read once at the start. Its
 * amounts are whole dollars, as in the specification; the code uses cents.
 */

const languages = ['en', 'de', 'fr', 'nl'] as const;
const handle = z.string().regex(/^[A-Za-z0-9._~-]{1,100}$/, 'write 1 to 100 letters, digits, or . _ ~ -');
const words = z.string().trim().min(1, 'write some words').max(200, 'write at most 200 characters');
/** English replaces missing languages. */
const inLanguages = <T extends z.ZodType>(value: T) =>
  z.strictObject({ en: value, de: value.optional(), fr: value.optional(), nl: value.optional() });
const entitlements = z
  .array(z.string().regex(/^[a-z0-9][a-z0-9:._-]{0,63}$/, 'write lower-case letters, digits, or : . _ -'))
  .max(50, 'name at most 50');

const features = z.array(words).max(10, 'name at most 10');

const common = {
  id: handle,
  /** The last part of the completion page's address: `m-99`. */
  code: handle,
  /** The public handle in addresses: the specification's plan hash. */
  planHash: handle,
  name: words,
  summary: inLanguages(words),
  features: inLanguages(features),
  entitlements,
};
/** '1' monthly, '2' yearly. */
const planType = z.enum(['1', '2'], "write '1' (monthly) or '2' (yearly)");
const wholeDollars = (min: number) =>
  z.int('write whole dollars').min(min, `write at least ${min}`).max(999_999, 'write at most 999999');

/** The plan is marked as the one that most members choose. */
const mark = z.boolean('write true or false').default(false);

const days = z.int('write whole days').min(1, 'write at least 1').max(365, 'write at most 365');

const seatNumber = z.int('write a whole number').min(1, 'write at least 1').max(10_000, 'write at most 10000');

const paid = z.strictObject({
  kind: z.literal('paid'),
  ...common,
  planType,
  mostChosen: mark,
  planAmount: wholeDollars(1),
  /** The amount is that of one seat, and members choose how many; without it, a plan has none. */
  seats: z.strictObject({ min: seatNumber, max: seatNumber }).optional(),
  /** Free days, with a card, before the first charge; without it, none. */
  trialDays: days.optional(),
  /** The lookup key of its price at Stripe; the code by default. */
  lookupKey: handle.optional(),
});
const free = z.strictObject({ kind: z.literal('free'), ...common, planType, mostChosen: mark });
const partner = z.strictObject({
  kind: z.literal('partner'),
  ...common,
  tier: z.union([z.literal(1), z.literal(2), z.literal(3)], 'write 1, 2 or 3'),
});

const planEnd = z.enum(['keep', 'period-end', 'at-once'], 'write keep, period-end or at-once');

/** Their charges at Stripe are whole units in spite of two decimals (https://docs.stripe.com/currencies). */
const wholeAtStripe = new Set(['isk', 'huf', 'twd', 'ugx']);

/** Tests for a currency whose cents are its smallest unit: the amounts of all code and of Stripe are in cents. */
function hasCents(currency: string): boolean {
  const code = currency.toUpperCase();
  if (wholeAtStripe.has(currency) || !Intl.supportedValuesOf('currency').includes(code)) return false;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: code });
  return format.resolvedOptions().maximumFractionDigits === 2;
}

/** Numbers of months to choose from. */
const monthsUpTo = (max: number) =>
  z
    .array(z.int('write whole months').min(1, 'write at least 1').max(max, `write at most ${max}`))
    .min(1, 'name at least one number of months')
    .max(6, 'name at most 6');

const catalogue = z.strictObject({
  currency: z
    .string()
    .regex(/^[a-z]{3}$/, 'write three lower-case letters, as in usd')
    .refine((value) => !/^[a-z]{3}$/.test(value) || hasCents(value), {
      error: 'write a currency with two decimals, as usd, eur or chf',
    }),
  /** The initial plan of every user; it is never charged. */
  trial: z.strictObject({
    lookupKey: handle,
    name: words,
    /** For a sign-up, and for the post-signup flow. */
    days,
    postSignUpDays: days,
    /** Its features, as members read them. */
    features: inLanguages(features).default({ en: [] }),
    entitlements,
  }),
  /** The proposed plan if the address names none. */
  defaultPlan: handle,
  /** The period of paid plans: a calendar month or year, or exactly 30 or 365 days. */
  periods: z.enum(['calendar', 'days'], 'write calendar or days').default('calendar'),
  /** How long a user keeps a plan whose renewal could not be charged. */
  graceDays: z.int('write whole days').min(0, 'write at least 0').max(60, 'write at most 60'),
  /** When users are told of a yearly renewal, in days before it; none: never. */
  renewalNoticeDays: z.array(days).max(5, 'name at most 5').default([30, 7]),
  /** Whether a plan goes on, ends with its period or ends at once after a dispute of its payment. */
  onDispute: planEnd.default('period-end'),
  /** The same after a full refund of its last payment. */
  onFullRefund: planEnd.default('keep'),
  /** Whether a plan that a user cancels ends with its period, or at once with a refund of the unused part. */
  cancel: z.enum(['period-end', 'prorated'], 'write period-end or prorated').default('period-end'),
  /** For how many months a user can pause a paid plan; without it, not at all. */
  pause: z.strictObject({ months: monthsUpTo(12) }).optional(),
  /** Which paid plans are given by gift codes, and for how many months; without it, none. */
  gifts: z
    .strictObject({
      months: monthsUpTo(36),
      /** Their ids; by default, of all paid plans. */
      plans: z.array(handle).min(1, 'name at least one plan, or leave it out').max(100, 'name at most 100').optional(),
    })
    .optional(),
  /** For sales to consumers in the EU; without it users cannot withdraw. */
  consumers: z
    .strictObject({
      /** How long a user can withdraw from a purchase and gets the money back. */
      withdrawalDays: z.int('write whole days').min(14, 'write at least 14').max(365, 'write at most 365').default(14),
      /** Whether a withdrawal gives everything back (the default), or keeps the share of the days until then. */
      refund: z.enum(['full', 'prorated'], 'write full or prorated').optional(),
      /**
       * How a yearly plan goes on after its year: by the month, or by another year that ends on a month's notice with a
       * refund of the rest; without it, by another year.
       */
      afterYear: z.enum(['monthly', 'year-with-refund'], 'write monthly or year-with-refund').optional(),
    })
    .optional(),
  /** Without it no tax is computed. */
  tax: z
    .strictObject({
      /** Whether Stripe Tax computes the tax of each charge. */
      automatic: z.boolean('write true or false'),
      /** Whether the amounts of plans contain the tax, or it is added to them. */
      behaviour: z.enum(['inclusive', 'exclusive'], 'write inclusive or exclusive'),
    })
    .optional(),
  plans: z
    .array(z.discriminatedUnion('kind', [paid, free, partner], 'kind is paid, free or partner'))
    .min(1, 'name at least one plan')
    .max(100, 'name at most 100 plans'),
  /** Codes of plans that are no longer sold: their completion pages still answer. */
  formerCodes: z.array(handle).max(100, 'name at most 100'),
});

export type PlansFile = z.infer<typeof catalogue>;
export type PlanEnd = z.infer<typeof planEnd>;
export type PlansFileLanguage = (typeof languages)[number];

/** Every fault of the file together. */
export class PlansFileError extends Error {
  override name = 'PlansFileError';
  readonly faults: readonly string[];
  constructor(file: string, faults: readonly string[]) {
    super(
      `The plans in ${file} have ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((f) => `  - ${f}`).join('\n')}`,
    );
    this.faults = faults;
  }
}

const listTwice = <T>(values: readonly T[]): T[] => [
  ...new Set(values.filter((value, index) => values.indexOf(value) !== index)),
];

function giftFaults({ gifts, plans }: PlansFile): string[] {
  const named = gifts?.plans ?? [];
  const bySeat = (id: string) => plans.some((plan) => plan.id === id && plan.kind === 'paid' && plan.seats);
  const notPaid = named.filter((id) => plans.find((plan) => plan.id === id)?.kind !== 'paid');
  return [
    ...listTwice(gifts?.months ?? []).map((each) => `gifts.months: ${each} stands there twice`),
    ...listTwice(named).map((id) => `gifts.plans: ${id} stands there twice`),
    ...new Set(notPaid.map((id) => `gifts.plans: there is no paid plan with the id ${id}`)),
    ...named.filter(bySeat).map((id) => `gifts.plans: ${id} is sold by the seat, and cannot be given`),
    ...(gifts && !plans.some((plan) => plan.kind === 'paid' && !plan.seats)
      ? ['gifts: there is no paid plan to give']
      : []),
  ];
}

/** Checks uniqueness and references. */
function contradictions(file: PlansFile): string[] {
  const { plans, trial, defaultPlan, formerCodes, consumers, cancel, pause } = file;
  const faults = plans.flatMap((plan) => (plan.kind === 'paid' ? listSaleFaults(plan, file) : []));
  const unique = (what: string, values: (string | undefined)[]) => {
    const args = values.filter((value) => value !== undefined);
    for (const value of listTwice(args)) faults.push(`plans: ${what} ${value} stands there twice`);
  };
  unique(
    'id',
    plans.map(({ id }) => id),
  );
  unique('code', [...plans.map(({ code }) => code), ...formerCodes]);
  unique(
    'planHash',
    plans.map(({ planHash }) => planHash),
  );
  unique('lookupKey', [
    trial.lookupKey,
    ...plans.map((plan) => (plan.kind === 'paid' ? (plan.lookupKey ?? plan.code) : undefined)),
  ]);
  unique(
    'tier',
    plans.map((plan) => (plan.kind === 'partner' ? String(plan.tier) : undefined)),
  );
  for (const each of listTwice(pause?.months ?? [])) faults.push(`pause.months: ${each} stands there twice`);
  faults.push(...giftFaults(file));
  for (const type of ['1', '2']) {
    const marked = plans.filter((plan) => plan.kind !== 'partner' && plan.planType === type && plan.mostChosen);
    if (marked.length > 1) {
      faults.push(`plans: mostChosen stands at ${marked.map(({ id }) => id).join(' and ')}: mark one of each planType`);
    }
  }
  if (consumers?.afterYear === 'monthly') {
    const isMonthly = (name: string) =>
      plans.some((one) => one.kind === 'paid' && one.planType === '1' && one.name === name);
    for (const plan of plans) {
      if (plan.kind !== 'paid' || plan.planType !== '2' || isMonthly(plan.name)) continue;
      faults.push(`consumers.afterYear: there is no paid monthly plan with the name ${plan.name}`);
    }
  }
  if (consumers?.afterYear === 'year-with-refund' && cancel === 'prorated') {
    faults.push(
      'consumers.afterYear: leave year-with-refund out, because cancel = prorated gives the rest back at once',
    );
  }
  const proposed = plans.find(({ id }) => id === defaultPlan);
  if (!proposed) faults.push(`defaultPlan: there is no plan with the id ${defaultPlan}`);
  else if (proposed.kind === 'partner') faults.push('defaultPlan: a partner’s plan cannot be proposed to everybody');
  return faults;
}

/** Checks the text of a catalogue. @throws {PlansFileError} */
export function parsePlans(text: string, file: string): PlansFile {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new PlansFileError(file, [`is no JSON: ${Reflect.get(Object(error), 'message')}`]);
  }
  const parsed = catalogue.safeParse(json);
  if (!parsed.success) {
    throw new PlansFileError(
      file,
      parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`),
    );
  }
  const faults = contradictions(parsed.data);
  if (faults.length > 0) throw new PlansFileError(file, faults);
  return parsed.data;
}

/** The file that comes with the product. */
export const shippedPlansFile = join(import.meta.dirname.replace(/([\\/])dist([\\/]config)$/, '$2'), 'plans.json');

/** @throws {PlansFileError} with all faults */
export function loadPlans(file: string = shippedPlansFile): PlansFile {
  let text: string;
  try {
    text = readUtf8File(file);
  } catch (error) {
    if (error instanceof NotUtf8Error) throw new PlansFileError(file, [error.message]);
    throw new PlansFileError(file, [`cannot be read: ${Reflect.get(Object(error), 'code')}`]);
  }
  return parsePlans(text, file);
}
