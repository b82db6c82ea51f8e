/**
 * A counter counts each value of its scope separately. `address`: an IP address and the networks that contain it;
 * `overall`: all requests together.
 */
export type Scope = 'address' | 'account' | 'device' | 'number' | 'recipient' | 'client' | 'flow' | 'code' | 'overall';

/** The configuration variables that hold a maximum. */
export type MaxVariable =
  | 'GUESS_LIMIT_ACCOUNT'
  | 'GUESS_LIMIT_DEVICE'
  | 'GUESS_LIMIT_ADDRESS'
  | 'GUESS_LIMIT_OVERALL'
  | 'PASSWORD_LIMIT_DEVICE'
  | 'PASSWORD_LIMIT_MEMBER'
  | 'SIGN_UP_LIMIT_ADDRESS'
  | 'SIGN_UP_LIMIT_OVERALL'
  | 'COMPANY_LIMIT_ADDRESS'
  | 'CARD_LIMIT_MEMBER'
  | 'CARD_LIMIT_ADDRESS'
  | 'CARD_LIMIT_OVERALL'
  | 'SMS_LIMIT_MEMBER'
  | 'SMS_LIMIT_NUMBER'
  | 'SMS_LIMIT_ADDRESS'
  | 'SMS_LIMIT_OVERALL'
  | 'API_LIMIT_CALLER'
  | 'API_LIMIT_ADDRESS'
  | 'API_LIMIT_VISITORS';

/** The configuration variables that hold a window, in minutes. */
export type WindowVariable = 'GUESS_WINDOW_MINUTES' | 'SIGN_UP_WINDOW_MINUTES' | 'CARD_WINDOW_MINUTES';

/** `times`: the value of the variable is multiplied by it; `atLeast`: the larger of the two variables counts. */
export type MaxDefinition =
  | number
  | MaxVariable
  | { variable: MaxVariable; times: number }
  | { variable: MaxVariable; atLeast: MaxVariable };

/**
 * The rule for requests while a counter of all visitors is full: `slow` lets OVERALL_LANE_PER_SECOND of them pass, `slow-mail` a
 * fifth of these, `refuse` none. Each notifies the operator.
 */
export type WhenFull = 'slow' | 'slow-mail' | 'refuse';

export interface CounterDefinition {
  by: Scope;
  /** Prefix of its key in the key-value store, where counts survive an upgrade: a new key starts a new count. */
  key: string;
  max: MaxDefinition;
  /** In milliseconds; without it the window of the limit. */
  window?: number;
  whenFull?: WhenFull;
}

export interface LimitDefinition {
  /** Completes the sentence "This limit counts …". */
  counts: string;
  /** In milliseconds, or the variable that holds the minutes. */
  window: number | WindowVariable;
  /** An attempt is counted at each of them in turn. */
  counters: readonly CounterDefinition[];
  /** The answer to a refused attempt, if it is not 429 with Retry-After. */
  refusal?: string;
}

/** A limit that its own module counts, because its rule is not a number of attempts per window. */
export interface SpecialLimitDefinition {
  counts: string;
  /** The scope in words. */
  per: string;
  /** Absent: it is counted in the memory of one process. */
  key?: string;
  /** A number, or in words where a configuration variable holds it. */
  max: number | string;
  /** The part of that variable for one address. */
  part?: number;
  /** In milliseconds; absent: the maximum holds at every moment. */
  window?: number;
  refusal: string;
}

export const defineCounter = <By extends Scope, Max extends MaxDefinition>(by: By, key: string, max: Max) => ({
  by,
  key,
  max,
});

export const defineLimit = <
  Window extends number | WindowVariable,
  const Counters extends readonly CounterDefinition[],
>(
  counts: string,
  window: Window,
  counters: Counters,
) => ({ counts, window, counters });
