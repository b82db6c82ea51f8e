import type { Page } from 'playwright-core';

/** A finger needs this much (WCAG 2.2, 2.5.8). */
const leastTargetPx = 24;
/** What a page is there for is larger. */
const controlPx = 48;

interface Limits {
  leastTarget: number;
  control: number;
  /** Width of the window, if one was asked for. */
  wanted: number | undefined;
}

/** What does not fit on the page as it stands, in words. Runs in the browser. */
function faultsHere({ leastTarget, control, wanted }: Limits): string[] {
  const faults: string[] = wanted && innerWidth !== wanted ? [`${innerWidth} wide`] : [];
  const name = (element: Element) =>
    `${element.tagName.toLowerCase()}.${element.classList.value || '-'} “${(element.textContent || element.getAttribute('aria-label') || '').trim().slice(0, 40)}”`;
  const shown = (element: Element) =>
    element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  /** Whether an element or one around it is like this; of each the style is read once. */
  const within = (what: (style: CSSStyleDeclaration) => boolean) => {
    const known = new Map<Element, boolean>();
    const has = (element: Element): boolean => {
      const found =
        known.get(element) ??
        (what(getComputedStyle(element)) || (element.parentElement !== null && has(element.parentElement)));
      known.set(element, found);
      return found;
    };
    return has;
  };
  const clipped = within(({ clipPath }) => clipPath === 'inset(50%)');
  const hiddenForEyes = (element: Element) => element.closest('.skip') !== null || clipped(element);
  const mayBePushed = within(({ overflowX }) => /auto|scroll/.test(overflowX));
  const page = document.documentElement;
  const width = page.clientWidth;

  if (page.scrollWidth > width) faults.push(`scrolls sideways: ${page.scrollWidth} in ${width}`);

  for (const element of document.body.querySelectorAll<HTMLElement>('*')) {
    if (!shown(element) || hiddenForEyes(element) || element.closest('svg')) continue;
    const box = element.getBoundingClientRect();
    const ownText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim());
    if (ownText && (box.right > width + 1 || box.left < -1) && !mayBePushed(element))
      faults.push(`beyond the edge: ${name(element)}`);
    const { overflowX, overflowY } = getComputedStyle(element);
    const clips = (overflow: string) => overflow === 'hidden' || overflow === 'clip';
    if (ownText && clips(overflowX) && element.scrollWidth > element.clientWidth + 1)
      faults.push(`cut: ${name(element)}`);
    if (ownText && clips(overflowY) && element.scrollHeight > element.clientHeight + 1)
      faults.push(`cut: ${name(element)}`);
    if (element.matches('.stepper-name') && element.scrollWidth > element.clientWidth + 1)
      faults.push(`in the next step: ${name(element)}`);
  }

  // Texts on one another: whatever is drawn at the middle of a control must be the control itself.
  for (const element of document.querySelectorAll<HTMLElement>('a[href], button, input:not([type=hidden])')) {
    if (!shown(element) || hiddenForEyes(element)) continue;
    // A label is pressed as well, whether it contains its control or names it.
    const target =
      element instanceof HTMLInputElement && element.matches('[type=checkbox], [type=radio]')
        ? (element.labels?.[0] ?? element)
        : element;
    const box = target.getBoundingClientRect();
    // A link in a line of text is as high as the line.
    const inText = getComputedStyle(element).display === 'inline' && element.parentElement?.matches('p, li, dd');
    if (!inText && (box.width < leastTarget || box.height < leastTarget)) {
      faults.push(`small target: ${name(element)} ${Math.round(box.width)}×${Math.round(box.height)}`);
    }
    const main = element.matches('.control input, .button:not(.small)');
    // What stands in a frame that looks like an input is as high as its frame, which is pressed as well.
    const { height } = (element.closest('.framed') ?? element).getBoundingClientRect();
    if (main && height < control) faults.push(`low control: ${name(element)} ${Math.round(height)}`);
    let covering = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    // The page scrolls below what sticks to the edge of the window: there it must be possible to reach everything.
    if (covering?.closest('.chooser-acts')?.contains(element) === false) {
      element.scrollIntoView({ block: 'center' });
      const scrolled = element.getBoundingClientRect();
      covering = document.elementFromPoint(scrolled.x + scrolled.width / 2, scrolled.y + scrolled.height / 2);
      scrollTo(0, 0);
    }
    // An open menu lies over the page on purpose, and so does what goes away by itself.
    const overlay = covering?.closest('details[open], dialog[open], html.scripted .snackbar');
    if (overlay && !overlay.contains(element)) continue;
    const onScreen = box.top >= 0 && box.bottom <= innerHeight;
    if (
      onScreen &&
      covering &&
      !element.contains(covering) &&
      !covering.contains(element) &&
      !target.contains(covering)
    ) {
      faults.push(`covered: ${name(element)} by ${name(covering)}`);
    }
  }

  for (const input of document.querySelectorAll<HTMLInputElement>('input[placeholder]')) {
    if (!shown(input)) continue;
    const style = getComputedStyle(input, '::placeholder');
    const context = document.createElement('canvas').getContext('2d');
    if (!context) continue;
    context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const { paddingLeft, paddingRight } = getComputedStyle(input);
    const space = input.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
    const needed = context.measureText(input.placeholder).width;
    if (needed > space)
      faults.push(`cut: placeholder “${input.placeholder}” ${Math.round(needed)} in ${Math.round(space)}`);
  }
  return faults;
}

/**
 * What is cut, covered, too small or too wide on the page as it stands.
 * @param widthPx which the window must have
 */
export const layoutFaults = (page: Page, widthPx?: number): Promise<string[]> =>
  page.evaluate(faultsHere, { leastTarget: leastTargetPx, control: controlPx, wanted: widthPx });
