/**
 * Derives the colors of both themes from a brand's color. The operator configures one; all others have its hue, and
 * every pair that users must distinguish has a measured contrast: 4.5:1 for text, 3:1 for controls (WCAG 2.2, 1.4.3 and
 * 1.4.11).
 */
import { contrast, fromOklch, parseHex, type Rgb, toHex, toOklch } from './colour.ts';

/** Token values as in the stylesheet, `#rrggbb` by token name without the dashes. */
export type Tokens = Record<string, string>;

interface AccentThemes {
  light: Tokens;
  dark: Tokens;
}

const rgb = (hex: string): Rgb => {
  const colour = parseHex(hex);
  if (colour === undefined) throw new Error(`${hex} is no colour`);
  return colour;
};

/** The backgrounds of accents in both themes; a test compares them with `client/styles/tokens.css`. */
export const grounds = {
  light: { paper: '#faf8f4', surface: '#ffffff', 'surface-2': '#f3efe7' },
  dark: { paper: '#0d1312', surface: '#161e1c', 'surface-2': '#1d2724' },
} as const;

const textRatio = 4.5;
const controlRatio = 3;

const minContrast = (colour: Rgb, others: readonly string[]) =>
  Math.min(...others.map((other) => contrast(colour, rgb(other))));

interface ContrastGoal {
  ratio: number;
  backgrounds: readonly string[];
  direction: 'darker' | 'lighter';
}

/** The color itself if it has the ratio on all backgrounds, else the nearest lightness that has; the hue stays. */
function reach(colour: Rgb, { ratio, backgrounds, direction }: ContrastGoal): Rgb {
  const start = toOklch(colour);
  const step = direction === 'darker' ? -0.005 : 0.005;
  let found = colour;
  for (let l = start.l + step; minContrast(found, backgrounds) < ratio && l > 0 && l < 1; l += step) {
    found = fromOklch({ ...start, l });
  }
  return found;
}

/** White, else nearly black in the color's own hue, else black: one of the three always has enough contrast. */
function onColour(colour: Rgb): string {
  const { c, h } = toOklch(colour);
  const ink = toHex(fromOklch({ l: 0.22, c: Math.min(c, 0.04), h }));
  return ['#ffffff', ink].find((text) => contrast(colour, rgb(text)) >= textRatio) ?? '#000000';
}

/** Slightly darker under white text, slightly lighter under black, so that the contrast only increases. */
function hover(colour: Rgb): Rgb {
  const own = toOklch(colour);
  return fromOklch({ ...own, l: own.l + (onColour(colour) === '#ffffff' ? -0.06 : 0.05) });
}

/** In the dark theme the color is light enough for a black background. */
function glowing(colour: Rgb): Rgb {
  const own = toOklch(colour);
  return own.l >= 0.72 ? colour : fromOklch({ ...own, l: 0.72, c: Math.min(own.c, 0.16) });
}

/** The colors of the picture on the sign-in pages, in the brand's hue: wall, ground and the three outer arches. */
function authColours(hue: number, chroma: number, lightness: Record<string, number>): Tokens {
  const c = Math.min(chroma, 0.075);
  return Object.fromEntries(Object.entries(lightness).map(([name, l]) => [name, toHex(fromOklch({ l, c, h: hue }))]));
}

const walls = {
  light: {
    wall: 0.325,
    'wall-high': 0.37,
    floor: 0.285,
    'arch-1': 0.38,
    'arch-2': 0.44,
    'arch-3': 0.535,
    numeral: 0.44,
  },
  dark: { wall: 0.22, 'wall-high': 0.25, floor: 0.185, 'arch-1': 0.25, 'arch-2': 0.29, 'arch-3': 0.37, numeral: 0.57 },
};

function theme(accent: Rgb, name: 'light' | 'dark'): Tokens {
  const own = toOklch(accent);
  const soft =
    name === 'light'
      ? fromOklch({ l: 0.945, c: Math.min(own.c, 0.025), h: own.h })
      : fromOklch({ l: 0.31, c: Math.min(own.c, 0.05), h: own.h });
  const goal = {
    backgrounds: [...Object.values(grounds[name]), toHex(soft)],
    direction: name === 'light' ? 'darker' : 'lighter',
  } as const;
  const control = reach(name === 'light' ? accent : glowing(accent), { ...goal, ratio: controlRatio });
  const link = reach(control, { ...goal, ratio: textRatio });
  const linkHover = toOklch(link);
  return {
    accent: toHex(control),
    'accent-hover': toHex(hover(control)),
    'accent-soft': toHex(soft),
    'on-accent': onColour(control),
    link: toHex(link),
    'link-hover': toHex(fromOklch({ ...linkHover, l: linkHover.l + (name === 'light' ? -0.08 : 0.06) })),
    'on-wall-2': toHex(fromOklch({ l: 0.86, c: Math.min(own.c, 0.025), h: own.h })),
    ...authColours(own.h, own.c, walls[name]),
  };
}

/** The fault of a brand's color, in words with a remedy; undefined if there is none. */
export function accentFault(text: string): string | undefined {
  const accent = parseHex(text);
  if (accent === undefined) return 'write a colour as #rrggbb, for example #0e6b5e';
  const backgrounds = Object.values(grounds.light);
  const control = minContrast(accent, backgrounds);
  const read = contrast(accent, rgb(onColour(accent)));
  if (control >= controlRatio && read >= textRatio) return undefined;
  const better = toHex(reach(accent, { ratio: controlRatio, backgrounds, direction: 'darker' }));
  return `${text} has a contrast of ${control.toFixed(1)}:1 on the light page where controls need 3:1 (text on it reaches ${read.toFixed(1)}:1 of 4.5:1); write a darker colour, for example ${better}`;
}

/**
 * The tokens of both themes for a brand's color.
 * @param text `#rrggbb` that `accentFault` accepts
 */
export function accentThemes(text: string): AccentThemes {
  const accent = rgb(text);
  return { light: theme(accent, 'light'), dark: theme(accent, 'dark') };
}
