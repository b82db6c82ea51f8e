/** note: worth knowing · warning: will hurt one day · fault: hurts now. */
export const levels = ['ok', 'note', 'warning', 'fault'] as const;
export type Level = (typeof levels)[number];

export const areas = {
  configuration: 'Configuration',
  machine: 'This machine',
  'data-folder': 'Data folder',
  database: 'Database',
  'key-value': 'Short-lived state',
  keys: 'Signing keys',
  clients: 'Client apps',
  messages: 'Messages',
  plans: 'Plans',
  providers: 'Providers',
  clock: 'Clocks',
  address: 'Public address',
  proxy: 'Proxy',
} as const;
export type Area = keyof typeof areas;

/** What one check found. */
export interface Finding {
  /** Stable, for programs: `redis.eviction`. */
  id: string;
  area: Area;
  level: Level;
  /** What was seen, in a sentence. */
  seen: string;
  /** Why it matters. */
  why?: string;
  /** What to do: a command, or a variable. */
  todo?: string;
}

/** What is not right comes with its reason and its remedy. */
type FindingDetail = Required<Pick<Finding, 'seen' | 'why' | 'todo'>>;

/** How a check of one area says what it found. */
export function findingsFor(area: Area) {
  const trouble = (level: Level) => (id: string, submitted: FindingDetail) =>
    ({ id, area, level, ...submitted }) satisfies Finding;
  return {
    ok: (id: string, seen: string): Finding => ({ id, area, level: 'ok', seen }),
    note: trouble('note'),
    warning: trouble('warning'),
    fault: trouble('fault'),
  };
}

/** Findings of which some do not apply. */
export const those = (...findings: (Finding | false | undefined)[]): Finding[] => findings.filter((one) => !!one);

/** `12.3 ms`, `1.5 GB` and the like are for people: three digits are enough. */
export const rounded = (value: number) => String(Number(value.toPrecision(3)));

export function bytesText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1000)));
  return `${rounded(bytes / 1000 ** step)} ${units[step]}`;
}
