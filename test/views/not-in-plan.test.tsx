import { renderToStaticMarkup } from 'react-dom/server';
import { contextFor } from './samples/context.ts';
import { dashboardSamples } from './samples/dashboard.tsx';

it('An app outside of the plan: the lead names the next step, and the way to all plans is the last row', () => {
  const html = renderToStaticMarkup(dashboardSamples(contextFor('en'))['not-in-plan']?.page);
  const [head = '', card = ''] = html.split('<section class="card');
  expect(head).toContain('which doesn’t include this app. Choose a plan below to continue to Academy');
  const rows = card.split('</section>')[0]?.split('<li>') ?? [];
  expect(rows.at(-1)).toMatch(/^<a [^>]*href="\/plan-purchase">Compare all plans<\/a><\/li><\/ul>$/);
  expect(html.split('Compare all plans')).toHaveLength(2);
});
