import type { CSSProperties } from 'react';
import type { Language, T } from '../../locales/index.ts';

/** The colored parts of mails: backgrounds, text, lines. */
export const coloured = {
  ground: ['paper', 'surface', 'soft', 'accent'],
  ink: ['ink', 'ink-2', 'on-accent', 'link'],
  line: ['line', 'accent'],
} as const;
type Kind = keyof typeof coloured;
export type MailColour = (typeof coloured)[Kind][number];
/** `#rrggbb` for the light and the dark theme. */
export type MailColours = Record<MailColour, { light: string; dark: string }>;

/** The input of every mail. */
export interface MailContext {
  lang: Language;
  t: T;
  /** Each part renders both, so the plain text has the same content as the HTML. */
  medium: 'html' | 'text';
  /** `sign`: Foyer's own is beside the name. A brand with a logo only has its name, because mails load no images. */
  brand: { name: string; sign: boolean };
  /** The recipient. */
  to: string;
  /** Absolute. */
  links: { home: string; forgotPassword: string; help?: string | undefined; support?: string | undefined };
  colours: MailColours;
}

const properties = { ground: 'background-color', ink: 'color', line: 'border-color' } as const;
const reactNames = { ground: 'backgroundColor', ink: 'color', line: 'borderColor' } as const;

/** Attributes of an element in these colors: inline for the light theme, by class for the dark one. */
export function look(
  { colours }: MailContext,
  expected: { [K in Kind]?: (typeof coloured)[K][number] },
  style: CSSProperties = {},
): { className: string; style: CSSProperties } {
  const own: CSSProperties = { ...style };
  const classes: string[] = [];
  for (const kind of Object.keys(properties) as Kind[]) {
    const colour = expected[kind];
    if (colour === undefined) continue;
    own[reactNames[kind]] = colours[colour].light;
    classes.push(`${kind}-${colour}`);
  }
  return { className: classes.join(' '), style: own };
}

/**
 * The rules of these classes in the dark theme.
 * @param within the ancestor of an element, by kind: Outlook's web pages mark elements that they have darkened
 */
export function darkModeRules(colours: MailColours, within: Partial<Record<Kind, string>> = {}): string {
  return (Object.keys(properties) as Kind[])
    .flatMap((kind) =>
      coloured[kind].map(
        (name) =>
          `${within[kind] === undefined ? '' : `${within[kind]} `}.${kind}-${name}{${properties[kind]}:${colours[name].dark}!important}`,
      ),
    )
    .join('');
}
