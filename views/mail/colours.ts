import type { CSSProperties } from 'react';

/** The colored parts of mails: backgrounds, text, lines. */
export const coloured = {
  ground: ['paper', 'surface', 'soft', 'accent'],
  ink: ['ink', 'ink-2', 'on-accent', 'link'],
  line: ['line', 'accent'],
} as const;
type Kind = keyof typeof coloured;
type MailColour = (typeof coloured)[Kind][number];
/** `#rrggbb` for the light and the dark theme. */
export type MailColours = Record<MailColour, { light: string; dark: string }>;

const properties = { ground: 'background-color', ink: 'color', line: 'border-color' } as const;
const reactNames = { ground: 'backgroundColor', ink: 'color', line: 'borderColor' } as const;

/**
 * Attributes of an element in these colors: inline for the light theme, by class for the dark one. Outlook's Word engine
 * reads the background of `bgcolor` where it drops the style.
 */
export function look(
  colours: MailColours,
  expected: { [K in Kind]?: (typeof coloured)[K][number] },
  style: CSSProperties = {},
): { className: string; style: CSSProperties; bgcolor?: string } {
  const own: CSSProperties = { ...style };
  const classes: string[] = [];
  for (const kind of Object.keys(properties) as Kind[]) {
    const colour = expected[kind];
    if (colour === undefined) continue;
    own[reactNames[kind]] = colours[colour].light;
    classes.push(`${kind}-${colour}`);
  }
  const bgcolor = expected.ground && colours[expected.ground].light;
  return { className: classes.join(' '), style: own, ...(bgcolor !== undefined && { bgcolor }) };
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
