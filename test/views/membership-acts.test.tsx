import { renderToStaticMarkup } from 'react-dom/server';
import { MembershipCard } from '../../views/account/membership-card.tsx';
import { contextFor } from './samples/context.ts';
import { membershipSamples } from './samples/membership.tsx';

const samples = membershipSamples(contextFor('en'));

/** The buttons and links of a row of acts that look like one, in their order: their looks and words. */
function actsOf(name: string, row: number): string[] {
  const { page } = samples[name] ?? {};
  if (!page) throw new Error(`there is no page ${name}`);
  const [, ...rows] = renderToStaticMarkup(page).split('<div class="actions main-first">');
  const acts = rows[row]?.split('</div>')[0] ?? '';
  return [...acts.matchAll(/class="button (\w+)[^"]*"[^>]*>([^<]*)/g)].map(([, kind, words]) => `${kind}: ${words}`);
}

const filledOn = (name: string) =>
  renderToStaticMarkup(samples[name]?.page).match(/class="button primary[^"]*"[^>]*>[^<]*/g)?.length ?? 0;

it('The main act of a membership is the first, and its cancellation the last and a link', () => {
  expect(actsOf('membership-tries', 0)).toEqual(['primary: Change plan', 'link: Cancel membership']);
  expect(actsOf('membership-ends', 0)).toEqual(['primary: Resume membership', 'quiet: Change plan']);
});

it.each([
  ['membership-unpaid', 'Pay $99.00 now'],
  ['membership-action', 'Confirm payment'],
])('To pay is the first act of %s, and the only filled button', (name, words) => {
  const [first, ...others] = actsOf(name, 0);
  expect(first).toBe(`primary: ${words}`);
  expect(others).toEqual([expect.stringMatching(/^quiet: /), 'link: Pay on Stripe’s page']);
  expect(actsOf(name, 1)).toEqual(['quiet: Change plan', 'link: Cancel membership']);
  expect(filledOn(name)).toBe(1);
});

it('The notice of a plan that the operator has paused names the address of the support', () => {
  const notice = renderToStaticMarkup(samples['membership-paused']?.page).split('write to us')[1]?.split('</div>')[0];
  expect(notice).toMatch(/<a (?:class="button primary" )?href="(?:mailto:|https:)[^"]*">/);
});

it('The notice of a payment that is owed has its acts inside, and the line below the heading names it', () => {
  const html = renderToStaticMarkup(samples['membership-unpaid']?.page);
  const [head = '', ...notices] = html.split('<div class="notice error"');
  // Without a closed element between them, the acts follow the text inside the same box.
  expect(notices[0]?.split('</div></div>')[0]).toMatch(
    /<\/p><div class="actions main-first"><form [^>]*\/membership\/pay"/,
  );
  expect(head.split('<h1')[1]).toContain('Payment of $99.00 failed');
});

it('A plan that is paused is not said to include anything', () => {
  const plan = (name: string) =>
    renderToStaticMarkup(samples[name]?.page).split('id="plan"')[1]?.split('</section>')[0];
  expect(plan('membership')).toContain('Included');
  expect(plan('membership-paused')).not.toContain('Included');
});

it('A notice says once that a payment has failed', () => {
  const words = renderToStaticMarkup(samples['membership-unpaid']?.page);
  expect(words).toContain('Your last payment didn’t go through');
  expect(words).not.toContain('The last payment failed');
});

it('The documents of an invoice have a column of their own beside its state', () => {
  const html = renderToStaticMarkup(samples.membership?.page);
  const refunded = html.split('<tr').find((row) => row.includes('FOYER-refunded'));
  const [state, documents] = refunded?.split('data-label="Status"')[1]?.split('</td>') ?? [];
  expect(state).toContain('Refunded');
  expect(state).not.toContain('<a ');
  expect(documents).toMatch(
    /data-label="Invoice".*>View<.*>PDF<.*>Credit note<span class="visually-hidden"> FOYER-0002-CN-01, \$99\.00<\/span></,
  );
});

/** The texts of a page: the line below its heading, its notices, and the rows of the plan. */
function wordsOn(name: string) {
  const html = renderToStaticMarkup(samples[name]?.page);
  const read = (part = '') =>
    part
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/[\s\u00a0]+/g, ' ')
      .trim();
  const [above = '', plan = ''] = html.split('id="plan"');
  const [, lead] = /<h1[^>]*>.*?<\/h1>.*?<p[^>]*>(.*?)<\/p>/s.exec(above) ?? [];
  const notices = above.split('<div class="notice').slice(1);
  const rows = plan.split('</section>')[0]?.matchAll(/<dt>(.*?)<\/dt><dd[^>]*>(.*?)<\/dd>/g) ?? [];
  return {
    lead: read(lead),
    notices: notices.map(read),
    rows: [...rows].map(([, ...row]) => row.map(read).join(': ')),
  };
}

it.each([
  ['membership-changes', 'Next payment: January 1, 2026 at $99.00', 'After that you have Starter, monthly.'],
  ['membership-deal-taken', 'Changes: On January 1, 2026 to AppSumo Tier 2', 'After that you have AppSumo Tier 2.'],
  ['membership-change-noted', 'Changes: On January 1, 2026 to Starter, monthly', 'you have Starter, monthly.'],
])('The line below the heading of %s names the present plan alone, and one row has the day', (name, row, notice) => {
  const { lead, notices, rows } = wordsOn(name);
  expect(lead).toBe('Growth &amp; &lt;Co&gt;, annual');
  expect(notices).toEqual([expect.stringContaining(notice)]);
  expect(rows.filter((one) => one.includes('January 1, 2026'))).toEqual([row]);
});

it('The settings’ home names the partner’s plan that follows, and its day', () => {
  const plan = { name: 'Growth', line: 'Growth, annual', features: [] };
  const at = Date.UTC(2026, 0, 1);
  const status = { kind: 'ends', plan, at, after: 'AppSumo Tier 2', isForDeal: true } as const;
  const card = renderToStaticMarkup(<MembershipCard ctx={contextFor('en')} membership={{ status, sold: true }} />);
  expect(card.replaceAll('\u00a0', ' ')).toContain('From January 1, 2026: AppSumo Tier 2');
});

it('While a purchase whose debit was refused has not ended, no plan is offered and no other notice is shown', () => {
  expect(wordsOn('membership-debit-refused').notices).toEqual([
    expect.stringContaining('You can choose a plan again in a few minutes.'),
  ]);
  expect(actsOf('membership-debit-refused', 0)).toEqual([]);
});

it('To change the seats is the main act of a plan by the seat', () => {
  expect(actsOf('membership-by-seats', 0)).toEqual([
    'primary: Change seats',
    'quiet: Change plan',
    'link: Cancel membership',
  ]);
});
