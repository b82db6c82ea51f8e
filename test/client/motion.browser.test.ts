import type { Page } from 'playwright-core';
import { scripted, visitsForTests } from './visit.ts';

describe('motion', () => {
  const { newPage, at, atPage } = visitsForTests();

  /** Opens the dialog and counts what has moved, beside changes of colors. */
  async function moved(page: Page, reducedMotion: 'reduce' | 'no-preference') {
    await page.emulateMedia({ reducedMotion });
    await page.goto(at('dialog'));
    await scripted(page);
    await page.evaluate(() => {
      document.addEventListener('animationstart', ({ animationName, pseudoElement }) => {
        if (pseudoElement === '') document.documentElement.dataset.moved = animationName;
      });
    });
    await page.getByRole('link', { name: 'Edit name' }).click();
    await page.getByRole('dialog').waitFor();
    await page.waitForTimeout(300);
    const running = await page.evaluate(() => document.getAnimations().length);
    return { name: await page.evaluate(() => document.documentElement.dataset.moved), running };
  }

  it.each([
    [1366, 'fade-in'],
    [375, 'slide-in'],
  ])('A dialog moves at %s px, and with reduced motion nothing does', async (widthPx, name) => {
    const page = await newPage({ widthPx });
    expect(await moved(page, 'no-preference')).toEqual({ name, running: 0 });
    expect(await moved(page, 'reduce')).toEqual({ name: undefined, running: 0 });
  });

  it.each([
    ['menu of the profile', () => at('profile menu'), 'unfold'],
    ['tick of a purchase', () => atPage('plan-completed'), 'draw'],
  ])('The %s moves, and with reduced motion it does not', async (_what, address, name) => {
    const page = await newPage();
    const names = async (reducedMotion: 'reduce' | 'no-preference') => {
      await page.emulateMedia({ reducedMotion });
      await page.goto(address());
      return page.evaluate(() => {
        document.querySelector('details')?.setAttribute('open', '');
        return document
          .getAnimations()
          .flatMap((animation) => (animation instanceof CSSAnimation ? [animation.animationName] : []));
      });
    };
    expect(new Set(await names('no-preference'))).toEqual(new Set([name]));
    expect(await names('reduce')).toEqual([]);
  });

  it('Pages lead into each other by a view transition, and not with reduced motion', async () => {
    const page = await newPage();
    await page.addInitScript(() => {
      addEventListener('pagereveal', (event) => {
        document.documentElement.dataset.transition = String(Reflect.get(event, 'viewTransition') !== null);
      });
    });
    const follow = async (reducedMotion: 'reduce' | 'no-preference') => {
      await page.emulateMedia({ reducedMotion });
      await page.goto(at('dialog'));
      // The browser has nothing to move from until the page was painted.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await page.evaluate((next) => location.assign(next), at('tabs'));
      await page.waitForURL(at('tabs'));
      await page.waitForFunction(() => document.documentElement.dataset.transition !== undefined);
      return page.evaluate(() => document.documentElement.dataset.transition);
    };
    expect(await follow('reduce')).toBe('false');
    expect(await follow('no-preference')).toBe('true');
  });
});
