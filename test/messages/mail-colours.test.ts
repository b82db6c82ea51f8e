import { readFileSync } from 'node:fs';
import { contrast, fromOklch, parseHex, type Rgb, toOklch } from '../../config/colour.ts';
import { languages } from '../../locales/index.ts';
import { mailTemplates, renderMail, sampleMail } from '../../server/messages/index.ts';
import { mailColours } from '../../server/messages/mail-colours.ts';
import { coloured } from '../../views/mail/index.ts';

const look = { publicUrl: 'https://login.example.com', brandName: 'Maison & Söhne' };
const everyMail = mailTemplates.flatMap((template) => languages.map((lang) => ({ template, lang })));

describe('the colours of mails', () => {
  const rgb = (hex: string): Rgb => {
    const colour = parseHex(hex);
    if (colour === undefined) throw new Error(`${hex} is no colour`);
    return colour;
  };
  /** What clients do that darken mails by themselves: every perceived lightness becomes its opposite, the hue stays. */
  const inverted = (colour: Rgb): Rgb => {
    const { l, c, h } = toOklch(colour);
    return fromOklch({ l: 1 - l, c, h });
  };
  const words = [
    ...(['ink', 'ink-2', 'link'] as const).flatMap((ink) =>
      (['paper', 'surface', 'soft'] as const).map((ground) => ({ ink, ground })),
    ),
    { ink: 'on-accent', ground: 'accent' } as const,
  ];

  it.each([undefined, '#6d28d9', '#e8590c', '#000000', '#0000ff', '#b3261e'])(
    'The colours with the accent %s are readable in light, dark and inverted mode',
    (accent) => {
      const colours = mailColours(accent);
      const low = words.flatMap(({ ink, ground }) => {
        const of = (theme: 'light' | 'dark') => [rgb(colours[ink][theme]), rgb(colours[ground][theme])] as const;
        const day = contrast(...of('light'));
        const night = contrast(...of('dark'));
        const [inkUpsideDown, groundUpsideDown] = of('light').map(inverted);
        const upsideDown = inkUpsideDown && groundUpsideDown ? contrast(inkUpsideDown, groundUpsideDown) : 0;
        // The client's own act: words keep what words need; what is underlined or bold keeps what controls need, but for
        // the links of a brand whose colour is neither dark nor light, and so stays in the middle.
        const leastUpsideDown =
          ink === 'ink' || ink === 'ink-2' ? 4.5 : ink === 'link' && accent !== undefined ? 2.5 : 3;
        return day >= 4.5 && night >= 4.5 && upsideDown >= leastUpsideDown
          ? []
          : [{ ink, ground, day, night, upsideDown }];
      });
      expect(low).toEqual([]);
    },
  );

  it('The colours of mails are those of the pages', () => {
    const css = readFileSync('client/styles/tokens.css', 'utf8');
    const [light = '', rest = ''] = css.split('@media (prefers-color-scheme: dark)');
    const colours = mailColours();
    for (const name of ['ink', 'ink-2', 'line'] as const) {
      expect(light).toContain(`--${name}: ${colours[name].light};`);
      expect(rest).toContain(`--${name}: ${colours[name].dark};`);
    }
  });

  it('Every colour that a mail uses has a dark counterpart', () => {
    const used = new Set<string>();
    for (const mail of everyMail) {
      const { html } = renderMail(sampleMail(mail.template, mail.lang), look);
      const body = html.slice(html.indexOf('</head>'));
      for (const [, classes = ''] of body.matchAll(/class="([^"]*)"/g))
        for (const name of classes.split(' ').filter((name) => name !== 'pad' && name !== '')) {
          expect(html).toContain(`.${name}{`);
          used.add(name);
        }
      // No colour without its class.
      for (const [tag] of body.matchAll(/<[^>]+style="[^"]*(?:color|background)[^"]*"[^>]*>/g))
        expect(tag).toMatch(/class="[^"]*(?:ink|ground|line)-/);
    }
    const all = Object.entries(coloured).flatMap(([kind, names]) => names.map((name) => `${kind}-${name}`));
    expect([...used].sort()).toEqual(all.sort());
  });
});
