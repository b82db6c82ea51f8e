import type { Limit, LimitCounter } from './consume.ts';
import type {
  CounterDefinition,
  LimitDefinition,
  MaxDefinition,
  MaxVariable,
  WhenFull,
  WindowVariable,
} from './definition.ts';
import { rateLimits } from './limits.ts';
import { type FirmLimit, type SlowLane, toMailLane } from './slow-lane.ts';

/** The configuration variables that the table names. */
export type LimitSettings = Readonly<Record<MaxVariable | WindowVariable | 'OVERALL_LANE_PER_SECOND', number>>;

type Definitions = typeof rateLimits;

/** The table with the numbers of the configuration. */
export type RateLimits = {
  readonly [Name in keyof Definitions]: Limit<Definitions[Name]['counters'][number]['by']>;
};

const minuteMs = 60_000;

function resolveMax(settings: LimitSettings, max: MaxDefinition): number {
  if (typeof max === 'number') return max;
  if (typeof max === 'string') return settings[max];
  const value = settings[max.variable];
  return 'times' in max ? Math.ceil(value * max.times) : Math.max(value, settings[max.atLeast]);
}

/** @param operator is notified, once per window, when a limit that all visitors share is reached */
export function configureLimits(settings: LimitSettings, operator: FirmLimit): RateLimits {
  const slow: SlowLane = { ...operator, perSecond: settings.OVERALL_LANE_PER_SECOND };
  const rules: Record<WhenFull, SlowLane | FirmLimit> = { slow, 'slow-mail': toMailLane(slow), refuse: operator };

  const toCounter = ({ max, whenFull, ...counter }: CounterDefinition): LimitCounter => ({
    ...counter,
    max: resolveMax(settings, max),
    whenFull: whenFull && rules[whenFull],
  });
  const toLimit = ({ window, counters }: LimitDefinition): Limit => ({
    window: typeof window === 'number' ? window : settings[window] * minuteMs,
    counters: counters.map(toCounter),
  });
  const limits = Object.entries<LimitDefinition>(rateLimits).map(([name, limit]) => [name, toLimit(limit)] as const);
  return Object.fromEntries(limits) as RateLimits;
}
