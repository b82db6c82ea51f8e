import type { CSSProperties } from 'react';
import type { Language, T } from '../../locales/index.ts';

/** What has a colour in mails: what lies behind, words, lines. */
export const coloured = {
  ground: ['paper', 'surface', 'soft', 'accent'],
  ink: ['ink', 'ink-2', 'on-accent', 'link'],
  line: ['line', 'accent'],
} as const;
type Kind = keyof typeof coloured;
export type MailColour = (typeof coloured)[Kind][number];
/** `#rrggbb` by day and by night. */
export type MailColours = Record<MailColour, { light: string; dark: string }>;

/** What every mail is given. */
export interface MailContext {
  lang: Language;
  t: T;
  /** Each part knows how it looks in both, so the plain text says what the HTML says. */
  medium: 'html' | 'text';
  /** `sign`: ours stands beside the name. A brand with a logo has its name alone, because mails load no images. */
  brand: { name: string; sign: boolean };
  /** The recipient. */
  to: string;
  /** Absolute. */
  links: { home: string; forgotPassword: string; help?: string | undefined; support?: string | undefined };
  colours: MailColours;
}

const properties = { ground: 'background-color', ink: 'color', line: 'border-color' } as const;
const reactNames = { ground: 'backgroundColor', ink: 'color', line: 'borderColor' } as const;

/** Attributes of an element in these colours: inline by day, by class at night. */
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
 * What these classes look like at night.
 * @param within what an element must stand in, by kind: Outlook's web pages mark what they have darkened
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
