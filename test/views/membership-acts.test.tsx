import { renderToStaticMarkup } from 'react-dom/server';
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
    /data-label="Invoice".*>View<.*>PDF<.*Credit note <span class="unbroken">FOYER-0002-CN-01,<\/span> /,
  );
});
