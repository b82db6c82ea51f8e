import { cards } from './acts.ts';
import { partnerPlans, pauseMonths, seatRange, soldPlans } from './catalogue.ts';
import { codeNames } from './shop.ts';
import type { Fault } from './world.ts';

/** What happens next; the generator chooses it from a seed alone. */
export type Operation = {
  member: number;
  fault: Fault | undefined;
  returns: boolean;
} /** `present`: the plan that the member has, so that it stays. */ & (
  | {
      kind: 'buy';
      planId: string;
      code: string | undefined;
      card: string;
      way: 'page' | 'twice' | 'api';
      /** Typed on the page of a plan that is sold by the seat. */
      seats?: number | undefined;
    }
  | { kind: 'deal'; tier: number }
  | { kind: 'cancel' | 'resume' | 'pay' | 'free' | 'withdraw' }
  | { kind: 'card'; card: string; fails: boolean }
  | { kind: 'bank'; answer: 'succeed' | 'fail' }
  | { kind: 'pause'; months: number }
  | { kind: 'leave'; when: 'period-end' | 'at-once' }
  | { kind: 'refund'; share: number }
  | { kind: 'dispute' }
  /** The bank decides refunds and disputes that have begun. */
  | { kind: 'decide'; succeeds: boolean }
  | { kind: 'raise'; dollars: number }
  /** The product is killed in the middle of its jobs. */
  | { kind: 'crash'; ms: number }
  | { kind: 'time'; ms: number }
  /** Until the member's period ends, and so long after it (before it, if negative). */
  | { kind: 'period'; afterMs: number }
  /** Until a day of a month. */
  | { kind: 'day'; day: number }
  | { kind: 'hold' | 'drop' | 'deliver' | 'deliver twice' }
);

export type Random = () => number;

export const seeded = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

export function pick<T>(random: Random, values: readonly T[]): T {
  const index = Math.floor(random() * values.length);
  if (index >= values.length) throw new Error('there is nothing to choose from');
  return values[index] as T;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

type Kind = Operation['kind'];

/** How often each kind comes. */
const weights: [Kind, number][] = [
  ['buy', 32],
  ['cancel', 6],
  ['resume', 6],
  ['pause', 4],
  ['free', 3],
  ['pay', 4],
  ['card', 6],
  ['bank', 5],
  ['leave', 1],
  ['deal', 1],
  ['withdraw', 2],
  ['refund', 2],
  ['dispute', 1],
  ['decide', 1],
  ['raise', 0.6],
  ['crash', 2],
  ['time', 12],
  ['period', 14],
  ['day', 3],
  ['hold', 3],
  ['drop', 1.5],
  ['deliver', 2],
  ['deliver twice', 2],
];
const sum = weights.reduce((total, [, weight]) => total + weight, 0);

function pickKind(random: Random): Kind {
  let left = random() * sum;
  for (const [kind, weight] of weights) {
    left -= weight;
    if (left < 0) return kind;
  }
  return 'buy';
}

const faultKinds = ['unreachable', 'lost', 'error', 'kept-error', 'rate-limit'] as const;
const killKinds = ['kill before', 'kill after', 'kill soon'] as const;

const ways = ['page', 'page', 'page', 'page', 'page', 'api', 'api', 'twice'] as const;
const goodCards = [
  cards.good,
  cards.good,
  cards.good,
  cards.other,
  cards.third,
  cards.chargeDeclined,
  cards.asksAlways,
  cards.expiresSoon,
];

/** Plans with free days are sold to a member once: they come more often. */
const bought = [...soldPlans, ...soldPlans.filter(({ trialDays }) => trialDays !== undefined)];

/** The rest of each kind. */
const details: { [K in Kind]: (random: Random) => object } = {
  buy: (random) => ({
    planId: random() < 0.1 ? 'present' : pick(random, bought).id,
    code: random() < 0.4 ? pick(random, codeNames) : undefined,
    card: pick(random, goodCards),
    way: pick(random, ways),
    seats: random() < 0.6 ? seatRange.min + Math.floor(random() * seatRange.max) : undefined,
  }),
  cancel: () => ({}),
  resume: () => ({}),
  pause: (random) => ({ months: pick(random, pauseMonths) }),
  free: () => ({}),
  pay: () => ({}),
  withdraw: () => ({}),
  deal: (random) => ({ tier: pick(random, partnerPlans).tier }),
  crash: (random) => ({ ms: Math.floor(random() * 120) }),
  card: (random) => ({ card: pick(random, goodCards), fails: random() < 0.3 }),
  bank: (random) => ({ answer: random() < 0.7 ? 'succeed' : 'fail' }),
  leave: (random) => ({ when: random() < 0.6 ? 'period-end' : 'at-once' }),
  refund: (random) => ({ share: random() < 0.4 ? 1 : random() }),
  dispute: () => ({}),
  decide: (random) => ({ succeeds: random() < 0.5 }),
  raise: (random) => ({ dollars: 1 + Math.floor(random() * 50) }),
  time: (random) => ({ ms: pick(random, [minuteMs, hourMs, 5 * hourMs, dayMs, 3 * dayMs, 13 * dayMs, 28 * dayMs]) }),
  period: (random) => ({
    afterMs: pick(random, [
      -3 * dayMs,
      -2 * dayMs,
      -dayMs,
      -hourMs,
      5 * minuteMs,
      30 * minuteMs,
      2 * hourMs,
      8 * dayMs,
    ]),
  }),
  day: (random) => ({ day: pick(random, [27, 28, 29, 30, 31]) }),
  hold: () => ({}),
  drop: () => ({}),
  deliver: () => ({}),
  'deliver twice': () => ({}),
};

const acts: readonly Kind[] = [
  ...(['buy', 'cancel', 'resume', 'pause', 'free', 'pay', 'withdraw', 'card', 'bank', 'leave', 'deal'] as const),
];

/** @param kills the share of the acts during which the process is killed */
export function makeOperation(random: Random, { members, kills }: { members: number; kills: number }): Operation {
  const kind = pickKind(random);
  const base = { member: Math.floor(random() * members), returns: random() < 0.5 };
  const [chance, nth, ms] = [random(), pick(random, [1, 1, 1, 2, 2, 3, 4, 6]), Math.floor(random() * 150)];
  const kindOf =
    chance < kills ? pick(random, killKinds) : chance < kills + 0.15 ? pick(random, faultKinds) : undefined;
  const n = kindOf === 'kill soon' ? ms : nth;
  const fault = kindOf && acts.includes(kind) ? { kind: kindOf, n } : undefined;
  return { ...base, kind, fault, ...details[kind](random) } as Operation;
}

export const shownOperation = ({ member, fault, returns, kind, ...rest }: Operation): string => {
  const values = Object.values(rest).filter((value) => value !== undefined);
  const trouble = fault
    ? `, ${fault.kind} ${fault.kind === 'kill soon' ? `after ${fault.n} ms` : `at request ${fault.n}`}${returns ? ', comes back' : ''}`
    : '';
  return `${kind}${values.length > 0 ? ` ${values.join(' ')}` : ''}${trouble}`;
};
