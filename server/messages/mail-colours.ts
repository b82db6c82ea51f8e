import { accentThemes, grounds } from '../../config/accent.ts';
import type { MailColours } from '../../views/mail/index.ts';

/** As in `client/styles/tokens.css`, which mails cannot read; a test compares them. */
const words = {
  light: { ink: '#14201d', 'ink-2': '#48554f', line: '#e4dfd4' },
  dark: { ink: '#edf2ef', 'ink-2': '#b3c0ba', line: '#28332f' },
};
const houseAccent = '#0e6b5e';

/** @param accent the brand's own, `#rrggbb` */
export function mailColours(accent: string = houseAccent): MailColours {
  const brand = accentThemes(accent);
  const of = (theme: 'light' | 'dark') => ({
    paper: grounds[theme].paper,
    surface: grounds[theme].surface,
    soft: grounds[theme]['surface-2'],
    ...words[theme],
    accent: brand[theme].accent ?? houseAccent,
    'on-accent': brand[theme]['on-accent'] ?? '#ffffff',
    link: brand[theme].link ?? houseAccent,
  });
  const [light, dark] = [of('light'), of('dark')];
  const names = Object.keys(light) as (keyof MailColours)[];
  return Object.fromEntries(names.map((name) => [name, { light: light[name], dark: dark[name] }])) as MailColours;
}
