/** Colors as numbers: sRGB for the screen, OKLCH (CSS Color 4, section 9) to derive one color from another. */

export interface Rgb {
  /** Each from 0 to 1, gamma-encoded as in `#rrggbb`. */
  r: number;
  g: number;
  b: number;
}

/** Lightness from 0 to 1, chroma from 0 to about 0.37, hue in degrees. */
interface Oklch {
  l: number;
  c: number;
  h: number;
}

/** `#rrggbb` or `#rgb`; undefined if it is neither. */
export function parseHex(text: string): Rgb | undefined {
  const short = /^#([\da-f])([\da-f])([\da-f])$/i.exec(text);
  const digits = short ? short.slice(1).map((digit) => digit + digit) : /^#(..)(..)(..)$/.exec(text)?.slice(1);
  const [r = Number.NaN, g = Number.NaN, b = Number.NaN] = (digits ?? []).map((pair) =>
    /^[\da-f]{2}$/i.test(pair) ? Number.parseInt(pair, 16) / 255 : Number.NaN,
  );
  return Number.isNaN(r + g + b) ? undefined : { r, g, b };
}

export function toHex({ r, g, b }: Rgb): string {
  const pair = (value: number) =>
    Math.round(Math.min(1, Math.max(0, value)) * 255)
      .toString(16)
      .padStart(2, '0');
  return `#${pair(r)}${pair(g)}${pair(b)}`;
}

const toLinear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const fromLinear = (value: number) => (value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055);

/** Relative luminance (WCAG 2.2). */
const luminance = ({ r, g, b }: Rgb) => 0.2126 * toLinear(r) + 0.7152 * toLinear(g) + 0.0722 * toLinear(b);

/** Contrast ratio of two colors, from 1 to 21 (WCAG 2.2). */
export function contrast(one: Rgb, other: Rgb): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

export function toOklch({ r, g, b }: Rgb): Oklch {
  const [lr, lg, lb] = [toLinear(r), toLinear(g), toLinear(b)];
  const long = Math.cbrt(0.4122214708 * lr + 0.5363325363 * lg + 0.0514459929 * lb);
  const middle = Math.cbrt(0.2119034982 * lr + 0.6806995451 * lg + 0.1073969566 * lb);
  const short = Math.cbrt(0.0883024619 * lr + 0.2817188376 * lg + 0.6299787005 * lb);
  const l = 0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short;
  const a = 1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short;
  const bb = 0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short;
  return { l, c: Math.hypot(a, bb), h: (Math.atan2(bb, a) * 180) / Math.PI };
}

function toRgb({ l, c, h }: Oklch): Rgb {
  const [a, b] = [c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)];
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const middle = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return {
    r: fromLinear(4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short),
    g: fromLinear(-1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short),
    b: fromLinear(-0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short),
  };
}

const inGamut = ({ r, g, b }: Rgb) => [r, g, b].every((value) => value >= -0.0005 && value <= 1.0005);

/** The nearest color that a screen can show: lightness and hue stay, chroma is reduced. */
export function fromOklch(colour: Oklch): Rgb {
  let { c } = colour;
  let rgb = toRgb(colour);
  while (!inGamut(rgb) && c > 0.001) {
    c -= 0.002;
    rgb = toRgb({ ...colour, c });
  }
  // Measures the rounded value that the stylesheet will have.
  return parseHex(toHex(rgb)) ?? rgb;
}
