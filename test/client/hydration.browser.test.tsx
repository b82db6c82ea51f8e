import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { renderDocument } from '../../server/http/index.ts';
import { Island } from '../../views/parts/island.tsx';
import { RevealView } from '../../views/parts/reveal.tsx';
import { chromiumForTests } from '../support/chromium.ts';
import { everyPage } from '../views/every-page.tsx';
import { contextFor } from '../views/samples/context.ts';
import { buildClientForDevelopment, type ClientBuild } from './build.ts';
import { type Gallery, openGallery, sampleNames } from './gallery.tsx';
import { islandSamples } from './island-samples.tsx';
import { turnTo, wakeAll } from './visit.ts';

describe('hydration', () => {
  const { newPage, takeFaults } = chromiumForTests({ pagesStay: true });
  let client: ClientBuild;
  let gallery: Gallery;
  /** Of all tests: islands are hydrated one by one, whatever was shown before. */
  let page: Page;
  beforeAll(async () => {
    // React reports attributes that differ in this mode alone; what differs in texts and elements, in both.
    client = buildClientForDevelopment();
    gallery = await openGallery(client.dir, (ctx) => ({
      'other attribute': (
        <Island
          ctx={ctx}
          name="reveal"
          view={(props) => <RevealView {...props} isVisible />}
          props={{ controls: 'a', label: 'b' }}
        />
      ),
      'other text': (
        <Island ctx={ctx} name="tabs" view={() => <nav>no tabs</nav>} props={{ label: '', tabs: [], chosen: '' }} />
      ),
    }));
    page = await newPage();
  }, 60_000);
  afterAll(async () => {
    await gallery?.close();
    client?.remove();
  });

  it('Hydration is tested with a sample of every island', () => {
    const ctx = contextFor('en');
    const tried = Object.values(islandSamples(ctx)).flatMap((sample) =>
      [...renderDocument(ctx, sample, { title: '' }).matchAll(/data-island="([^"]+)"/g)].map(([, name]) => name),
    );
    const islands = readdirSync(join('client', 'islands')).map((name) => name.replace(/\.tsx$/, ''));
    expect([...new Set(tried)].sort()).toEqual(islands.sort());
  });

  it.each(sampleNames)('Hydration of %s finds what it would render', async (name) => {
    await turnTo(page, gallery.at(name));
    expect(await wakeAll(page)).toBeGreaterThan(0);
    // A sample must not leave its page, nor end in the page of a failure.
    expect(await page.evaluate(() => document.documentElement.className)).toBe('scripted');
  });

  describe('on the pages of the product', () => {
    const ctx = contextFor('en');
    const withIslands = Object.entries(everyPage(ctx))
      .filter(([, { page }]) => renderDocument(ctx, page, { title: '' }).includes('data-island='))
      .map(([name]) => name);

    it('The pages of the product have islands', () => {
      expect(withIslands.length).toBeGreaterThan(2);
    });

    it.each(withIslands)('Hydration of the page %s finds what it would render', async (name) => {
      await turnTo(page, gallery.page(name));
      expect(await wakeAll(page)).toBeGreaterThan(0);
    });
  });

  it('Hydration keeps what the user did before: a menu opened, words typed, a choice made', async () => {
    await turnTo(page, gallery.at('profile menu'));
    await page.evaluate(() => document.querySelector('details')?.setAttribute('open', ''));
    await wakeAll(page);
    expect(await page.locator('details[open]').count()).toBe(1);
    await turnTo(page, gallery.at('segmented choice'));
    await page.evaluate(() => document.querySelector<HTMLInputElement>('[value=year]')?.click());
    await wakeAll(page);
    expect(await page.getByRole('radio', { name: 'Annual' }).isChecked()).toBe(true);
    await page.getByText('Panel devices').waitFor();
    await turnTo(page, gallery.at('code input'));
    await page.locator('input').evaluate((input: HTMLInputElement) => {
      input.value = '12 34';
    });
    await wakeAll(page);
    await page.waitForFunction(() => document.querySelector('input')?.value === '1234');
  });

  it.each(['other attribute', 'other text'])('Hydration that finds %s is reported', async (name) => {
    await turnTo(page, gallery.at(name));
    await wakeAll(page).catch(() => undefined);
    expect(takeFaults().join()).toMatch(/hydrat/i);
  });
});
