import { type Finding, findingsFor, rounded } from './finding.ts';

const { ok, warning, fault } = findingsFor('clock');

/** A reading of another clock, with this machine's before and after (milliseconds since the epoch). */
export interface ClockReading {
  /** `PostgreSQL`, `Redis`, `PUBLIC_URL`. */
  source: string;
  beforeMs: number;
  theirsMs: number;
  afterMs: number;
  /** Resolution of the other clock: a Date header has whole seconds, rounded down. */
  grainMs?: number;
}

const warnFromMs = 2_000;
const faultFromMs = 30_000;

/** The minimum by which the other clock is ahead, given the duration of the query; negative if it is behind. */
export function clockOffset({ beforeMs, theirsMs, afterMs, grainMs = 0 }: ClockReading): number {
  if (theirsMs > afterMs) return theirsMs - afterMs;
  if (theirsMs + grainMs < beforeMs) return theirsMs + grainMs - beforeMs;
  return 0;
}

/** Clock differences: tokens that are not valid yet, sessions that end too early. */
export function judgeClock(reading: ClockReading): Finding {
  const offset = clockOffset(reading);
  const { source } = reading;
  const id = `clock.${source.toLowerCase().replace(/[^a-z]+/g, '-')}`;
  const apart = Math.abs(offset);
  if (apart < warnFromMs)
    return ok(id, `The clock of ${source} agrees with this machine’s (to ${rounded(apart / 1000)} s).`);
  return (apart < faultFromMs ? warning : fault)(id, {
    seen: `The clock of ${source} is ${rounded(apart / 1000)} s ${offset > 0 ? 'ahead of' : 'behind'} this machine’s.`,
    why: 'Client apps refuse tokens that seem to come from the future or to be over; sessions, codes and locks end too early or too late.',
    todo: 'Let all hosts take their time from the network: `timedatectl set-ntp true` (or chrony), then look with `timedatectl`.',
  });
}
