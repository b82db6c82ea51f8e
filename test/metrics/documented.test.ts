import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPrometheusMetrics } from '../../server/metrics/prometheus.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');

it('The page docs/operating.md names every metric of Foyer with its labels, and no other', () => {
  const metrics = createPrometheusMetrics();
  metrics.passwordQueue(() => ({ running: 0, waiting: 0 }));
  metrics.visitorData(async () => ({ bytes: 0, maxBytes: 1 }));
  const own = metrics.registry.getMetricsAsArray().filter(({ name }) => name.startsWith('foyer_'));
  const table = text.split('\n').filter((line) => line.startsWith('|'));
  const said = new Map(
    [...table.join('\n').matchAll(/`(foyer_\w+)(?:\{([\w,]+)\})?`/g)].map(([, name = '', labels]) => [name, labels]),
  );
  expect(own.length).toBeGreaterThan(10);
  expect([...said.keys()].toSorted()).toEqual(own.map(({ name }) => name).toSorted());
  const labels = (metric: object) => [Reflect.get(metric, 'labelNames') ?? []].flat().join(',') || undefined;
  expect(Object.fromEntries(said)).toEqual(Object.fromEntries(own.map((metric) => [metric.name, labels(metric)])));
});
