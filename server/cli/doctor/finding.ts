/** note: useful to know · warning: will fail one day · fault: fails now. */
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
  outgoing: 'Outgoing proxy',
  messages: 'Messages',
  plans: 'Plans',
  providers: 'Providers',
  clock: 'Clocks',
  address: 'Public address',
  proxy: 'Proxy',
} as const;
export type Area = keyof typeof areas;

/** The result of one check. */
export interface Finding {
  /** Stable, for programs: `redis.eviction`. */
  id: string;
  area: Area;
  level: Level;
  /** The observation, in a sentence. */
  seen: string;
  /** The reason that it matters. */
  why?: string;
  /** The remedy: a command, or a variable. */
  todo?: string;
}

/** `12.3 ms`, `1.5 GB` and the like are for people: three digits suffice. */
export const rounded = (value: number) => String(Number(value.toPrecision(3)));

export function bytesText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1000)));
  return `${rounded(bytes / 1000 ** step)} ${units[step]}`;
}
