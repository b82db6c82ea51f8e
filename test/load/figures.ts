/** Computes the figures of the report from samples. */

/** The value under which a share (0 to 1) of the samples lie. @throws RangeError without samples */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new RangeError('no samples');
  return value;
}

/** @throws RangeError without samples */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const [below, above] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  if (below === undefined || above === undefined) throw new RangeError('no samples');
  return (below + above) / 2;
}

/** One line of the report. */
export interface Figure {
  what: string;
  value: number;
  unit: 'ratio' | 'ms' | 'MB' | '/s';
  /** The limit of the design; a figure without one only informs. */
  aim?: { atLeast: number } | { below: number };
  detail?: string;
}

export function isMet({ value, aim }: Figure): boolean | undefined {
  if (aim === undefined) return undefined;
  return 'atLeast' in aim ? value >= aim.atLeast : value < aim.below;
}

const decimals = { ratio: 2, ms: 1, MB: 0, '/s': 0 } as const;

export function line(figure: Figure): string {
  const { what, value, unit, aim, detail } = figure;
  const shown = `${value.toFixed(decimals[unit])}${unit === 'ratio' ? '' : unit === '/s' ? unit : ` ${unit}`}`;
  const met = isMet(figure);
  const verdict =
    aim === undefined
      ? ''
      : `${met ? 'met' : 'MISSED'} (aim ${'atLeast' in aim ? `at least ${aim.atLeast}` : `below ${aim.below}`})`;
  return [what.padEnd(44), shown.padStart(9), verdict.padEnd(26), detail ?? ''].join('  ').trimEnd();
}

/** One side's rounds of one measurement. */
export interface Rounds {
  perSecond: number[];
  /** Processor time of the server's process for one request, in milliseconds. */
  cpuMs: number[];
}

/**
 * Compares Foyer with its baseline by the median ratio of the pairs: the two of a pair ran one after the other under the
 * same conditions.
 */
export function compared(what: string, yardstick: Rounds, foyer: Rounds, aim?: number): Figure {
  const ratios = foyer.perSecond.map((rate, index) => rate / (yardstick.perSecond[index] ?? Number.NaN));
  const cpu =
    foyer.cpuMs.length > 0 && yardstick.cpuMs.length > 0
      ? `; processor ${median(foyer.cpuMs).toFixed(2)} ms against ${median(yardstick.cpuMs).toFixed(2)} ms`
      : '';
  const detail = `${median(foyer.perSecond).toFixed(0)}/s against ${median(yardstick.perSecond).toFixed(0)}/s${cpu}`;
  return { what, value: median(ratios), unit: 'ratio', ...(aim !== undefined && { aim: { atLeast: aim } }), detail };
}

/** What one request takes of the server's process. Without a baseline it only informs. */
export const workPer = (what: string, cpuMs: readonly number[], detail: string): Figure => ({
  what: `${what}, processor time`,
  value: median(cpuMs),
  unit: 'ms',
  detail,
});

/**
 * The area under the ROC curve: how often a sample of the one kind is above one of the other, with ties counted as half.
 * A value of 0.5 means that the samples do not differ. The 95 % interval is that of Hanley and McNeil (1982).
 */
export function separation(
  positive: readonly number[],
  negative: readonly number[],
): { auc: number; from: number; to: number } {
  let wins = 0;
  for (const one of positive) for (const other of negative) wins += one > other ? 1 : one === other ? 0.5 : 0;
  const [p, n] = [positive.length, negative.length];
  const auc = wins / (p * n);
  const [q1, q2] = [auc / (2 - auc), (2 * auc ** 2) / (1 + auc)];
  const variance = (auc * (1 - auc) + (p - 1) * (q1 - auc ** 2) + (n - 1) * (q2 - auc ** 2)) / (p * n);
  const reach = 1.96 * Math.sqrt(Math.max(0, variance));
  return { auc, from: auc - reach, to: auc + reach };
}
