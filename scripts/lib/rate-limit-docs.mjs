/** The table of rate limits as Markdown, from `server/http/rate-limits/limits.ts` and `special-limits.ts`. */

/** @typedef {import('../../server/http/rate-limits/definition.ts').CounterDefinition} Counter */
/** @typedef {import('../../server/http/rate-limits/definition.ts').LimitDefinition} Limit */
/** @typedef {import('../../server/http/rate-limits/definition.ts').SpecialLimitDefinition} SpecialLimit */

const secondMs = 1_000;
/** @type {readonly [ms: number, name: string][]} */
const units = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
];

const scopes = /** @type {const} */ ({
  address: 'address',
  account: 'account',
  device: 'browser or device',
  number: 'phone number',
  recipient: 'recipient',
  client: 'caller',
  flow: 'flow',
  code: 'code',
  overall: 'all together',
});

const whenFull = /** @type {const} */ ({
  slow: 'slowed down',
  'slow-mail': 'slowed down to a fifth of it',
  refuse: '429',
});

/** @param {number} ms */
function duration(ms) {
  const [unit, name] = units.find(([length]) => ms % length === 0) ?? [secondMs, 'second'];
  const count = ms / unit;
  return count === 1 ? `1 ${name}` : `${count} ${name}s`;
}

/** @param {number | string} value */
const window = (value) => (typeof value === 'number' ? duration(value) : `\`${value}\``);

/** @param {Counter['max']} max */
function maximum(max) {
  if (typeof max === 'number') return max.toLocaleString('en-US');
  if (typeof max === 'string') return `\`${max}\``;
  if ('times' in max) return max.times < 1 ? `half of \`${max.variable}\`` : `\`${max.variable}\` × ${max.times}`;
  return `\`${max.variable}\`, at least \`${max.atLeast}\``;
}

/** @param {readonly string[]} cells */
const row = (cells) => `| ${cells.join(' | ')} |`;

/**
 * @param {Readonly<Record<string, Limit>>} limits
 * @param {Readonly<Record<string, SpecialLimit>>} specialLimits
 * @param {Readonly<Record<string, number>>} callsPerMinute
 * @returns {string[]} lines
 */
export function rateLimitReference(limits, specialLimits, callsPerMinute) {
  const rows = Object.entries(limits).flatMap(([name, limit]) =>
    limit.counters.map(({ by, key, max, window: own, whenFull: rule }) =>
      row([
        name,
        `\`${key}\``,
        limit.counts,
        scopes[by],
        maximum(max),
        window(own ?? limit.window),
        limit.refusal ?? (rule === undefined ? '429' : whenFull[rule]),
      ]),
    ),
  );
  const special = Object.entries(specialLimits).map(([name, { counts, per, key, max, window: length, refusal }]) =>
    row([
      name,
      key === undefined ? '–' : `\`${key}\``,
      counts,
      per,
      String(max),
      length === undefined ? 'at every moment' : duration(length),
      refusal,
    ]),
  );
  const calls = Object.entries(callsPerMinute).map(([id, max]) => `\`${id}\` ${max}`);
  return [
    '## Every rate limit',
    '',
    'Generated from `server/http/rate-limits/limits.ts`. A try is counted before it is looked at. A refused try is counted by no limit, and',
    'a try that turns out to be right is taken back where a row counts wrong ones. The answer is 429 with `Retry-After`, unless the last',
    'column says otherwise. “Slowed down” stands for `OVERALL_LANE_PER_SECOND`. An address is an IPv4 address or an IPv6 /64 network;',
    'an IPv4 /24 and an IPv6 /56 have three times its maximum, an IPv6 /48 six times. The key begins the name of the counter in the',
    'key-value store.',
    '',
    row(['Limit', 'Key', 'Counts', 'Per', 'Maximum', 'Window', 'When full']),
    row(['---', '---', '---', '---', '---', '---', '---']),
    ...rows,
    ...special,
    '',
    `Calls of the JSON API with a maximum of their own per minute: ${calls.join(', ')}.`,
  ];
}
