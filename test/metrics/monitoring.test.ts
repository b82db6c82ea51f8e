import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { createPrometheusMetrics } from '../../server/metrics/prometheus.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Rule {
  alert: string;
  expr: string;
}
interface Panel {
  title: string;
  targets?: { expr: string; legendFormat: string }[];
}
const alerts: { groups: { rules: Rule[] }[] } = parse(read('docs/monitoring/alerts.yml'));
const dashboard: { panels: Panel[] } = JSON.parse(read('docs/monitoring/grafana-dashboard.json'));

const rules = alerts.groups.flatMap((group) => group.rules);
const targets = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
const expressions = [
  ...rules.map(({ alert, expr }) => ({ place: `alert ${alert}`, expr })),
  ...targets.map(({ title, expr }) => ({ place: `panel ${title}`, expr })),
];

/** Prometheus itself adds these to each sample, and `up` for each process that it asks. */
const ownLabels = ['job', 'instance'];

/** The names of all series that the product exports, each with its labels. */
function readExported(): Map<string, string[]> {
  const metrics = createPrometheusMetrics();
  metrics.passwordQueue(() => ({ running: 0, waiting: 0 }));
  metrics.visitorData(async () => ({ bytes: 0, maxBytes: 1 }));
  const series = metrics.registry.getMetricsAsArray().flatMap((metric): [string, string[]][] => {
    const labels = [Reflect.get(metric, 'labelNames') ?? []].flat().map(String);
    if (!('buckets' in metric)) return [[metric.name, labels]];
    return [
      [`${metric.name}_bucket`, [...labels, 'le']],
      [`${metric.name}_sum`, labels],
      [`${metric.name}_count`, labels],
    ];
  });
  return new Map<string, string[]>([['up', []], ...series]);
}

interface Selector {
  metric: string;
  labels: string[];
  values: string[];
}

/** Reads an expression with Prometheus's own grammar. @throws {Error} at what Prometheus would refuse */
function readExpression(expr: string) {
  const selectors: Selector[] = [];
  const groupings: string[] = [];
  const text = (node: { from: number; to: number }) => expr.slice(node.from, node.to);
  parser.parse(expr).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`${expr}\n${' '.repeat(node.from)}^ is no PromQL`);
      if (node.name === 'VectorSelector') selectors.push({ metric: '', labels: [], values: [] });
      const selector = selectors.at(-1);
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector' && selector)
        selector.metric = text(node);
      if (node.name === 'LabelName') {
        const isGrouping = node.node.parent?.name === 'GroupingLabels';
        (isGrouping ? groupings : (selector?.labels ?? [])).push(text(node));
      }
      if (node.name === 'StringLiteral') selector?.values.push(text(node).slice(1, -1));
    },
  });
  return { selectors, groupings };
}

describe('the examples for Prometheus and Grafana', () => {
  const exported = readExported();

  it.each(expressions)('$place reads only series and labels that the product exports', ({ expr }) => {
    const { selectors, groupings } = readExpression(expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { metric, labels } of selectors) {
      expect([...exported.keys()]).toContain(metric);
      expect([...ownLabels, ...(exported.get(metric) ?? [])]).toEqual(expect.arrayContaining(labels));
    }
    const known = selectors.flatMap(({ metric }) => exported.get(metric) ?? []);
    expect([...ownLabels, ...known]).toEqual(expect.arrayContaining(groupings));
  });

  it.each(targets)('The legend of “$title” names labels that its expression keeps', ({ expr, legendFormat }) => {
    const { groupings, selectors } = readExpression(expr);
    const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
    const kept = /\bby\b/.test(expr) ? groupings : [...ownLabels, ...selectors.flatMap(({ labels }) => labels)];
    expect(kept).toEqual(expect.arrayContaining(named));
  });

  it('The results, channels and outcomes that they select are words of the source', () => {
    const source = globSync('server/**/*.ts', { cwd: root }).map(read).join('\n');
    const selected = expressions.flatMap(({ expr }) => readExpression(expr).selectors.flatMap(({ values }) => values));
    const words = selected
      .flatMap((value) => value.split('|'))
      .filter((word) => !['foyer', '5xx', '$instance'].includes(word));
    expect(words).toContain('too-many');
    expect(words.filter((word) => !source.includes(`'${word}'`))).toEqual([]);
  });

  it('Every metric of Foyer stands on the dashboard', () => {
    const shown = new Set(targets.flatMap(({ expr }) => readExpression(expr).selectors.map(({ metric }) => metric)));
    const own = [...exported.keys()].filter((name) => name.startsWith('foyer_') && !/_(sum|count)$/.test(name));
    expect(own.filter((name) => !shown.has(name))).toEqual([]);
  });

  it('A misspelt metric, a label that it does not have, and a broken expression are found', () => {
    const [selector] = readExpression('sum by (channel) (rate(foyer_messages_total{chanel="sms"}[5m]))').selectors;
    expect(selector).toEqual({ metric: 'foyer_messages_total', labels: ['chanel'], values: ['sms'] });
    expect(exported.has('foyer_messages_total')).toBe(false);
    expect(() => readExpression('sum(rate(foyer_sign_ins_total[5m])')).toThrow('is no PromQL');
  });

  it('Every alert says what happened and what to do', () => {
    for (const group of alerts.groups)
      for (const rule of group.rules)
        expect(rule).toMatchObject({
          labels: { severity: expect.stringMatching(/^(page|ticket)$/) },
          annotations: { summary: expect.stringMatching(/\w/), description: expect.stringMatching(/\w+.*\.$/) },
        });
  });
});
