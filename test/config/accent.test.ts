import { readFileSync } from 'node:fs';
import { accentFault, accentThemes, grounds, type Tokens } from '../../config/accent.ts';
import { contrast, fromOklch, parseHex, toHex, toOklch } from '../../config/colour.ts';
import { ConfigurationError, loadConfig } from '../../config/load.ts';

const rgb = (hex: string | undefined) => {
  const colour = parseHex(hex ?? '');
  if (colour === undefined) throw new Error(`${hex} is no colour`);
  return colour;
};
const ratio = (one: string | undefined, other: string | undefined) => contrast(rgb(one), rgb(other));

/** The tokens of one theme as `client/styles/tokens.css` has them. */
function styledTokens(theme: 'light' | 'dark'): Record<string, string> {
  const css = readFileSync('client/styles/tokens.css', 'utf8');
  const [light = '', rest = ''] = css.split('@media (prefers-color-scheme: dark)');
  const dark = rest.split('@media')[0] ?? '';
  const read = (text: string) =>
    Object.fromEntries([...text.matchAll(/--([\w-]+):\s*(#[\da-f]{6})/g)].map(([, name, value]) => [name, value]));
  return theme === 'light' ? read(light) : { ...read(light), ...read(dark) };
}

/** Every pair that must be told apart, with what it has and what it needs. */
function pairs(tokens: Tokens, behind: readonly string[]) {
  const wall = [tokens.wall, tokens['wall-high']];
  return [
    ...['accent', 'accent-hover'].map((name) => ({
      name: `on-accent on ${name}`,
      least: 4.5,
      has: ratio(tokens['on-accent'], tokens[name]),
    })),
    ...['link', 'link-hover'].flatMap((name) =>
      [...behind, tokens['accent-soft']].map((ground) => ({
        name: `${name} on ${ground}`,
        least: 4.5,
        has: ratio(tokens[name], ground),
      })),
    ),
    ...behind.map((ground) => ({ name: `accent on ${ground}`, least: 3, has: ratio(tokens.accent, ground) })),
    ...['on-wall', 'on-wall-2'].flatMap((name) =>
      wall.map((ground) => ({ name: `${name} on ${ground}`, least: 4.5, has: ratio(tokens[name], ground) })),
    ),
    { name: 'numeral on paper', least: 3, has: ratio(tokens.numeral, behind[0]) },
  ];
}
const tooLow = (tokens: Tokens, behind: readonly string[]) =>
  pairs(tokens, behind).filter(({ least, has }) => has < least);

describe('colours', () => {
  it('A colour is read only as #rrggbb or #rgb', () => {
    expect(parseHex('#0e6b5e')).toEqual({ r: 14 / 255, g: 107 / 255, b: 94 / 255 });
    expect(parseHex('#0Af')).toEqual(parseHex('#00aaff'));
    for (const text of ['', 'red', '#12', '#12345', '#1234567', '#12345g', 'rgb(1,2,3)', '#0e6b5e;}', ' #0e6b5e']) {
      expect(parseHex(text)).toBeUndefined();
    }
  });

  it('The contrast of two colours is what WCAG computes', () => {
    expect(ratio('#000000', '#ffffff')).toBeCloseTo(21, 5);
    expect(ratio('#777777', '#ffffff')).toBeCloseTo(4.478, 3);
    expect(ratio('#ffffff', '#777777')).toBe(ratio('#777777', '#ffffff'));
  });

  it('A colour is the same after conversion to OKLCH and back', () => {
    for (const hex of ['#0e6b5e', '#e8590c', '#6d28d9', '#ffffff', '#000000', '#ff0000', '#123456']) {
      expect(toHex(fromOklch(toOklch(rgb(hex))))).toBe(hex);
    }
  });
});

describe('a brand colour', () => {
  const accents = [0.25, 0.4, 0.5, 0.6].flatMap((l) =>
    [0, 0.08, 0.16, 0.25].flatMap((c) => Array.from({ length: 12 }, (_, at) => toHex(fromOklch({ l, c, h: at * 30 })))),
  );

  it('A brand colour of every hue becomes two themes in which everything is readable', () => {
    const accepted = [...new Set(accents), '#000000', '#0000ff'].filter((accent) => accentFault(accent) === undefined);
    expect(accepted.length).toBeGreaterThan(100);
    for (const accent of accepted) {
      const { light, dark } = accentThemes(accent);
      const low = [
        ...tooLow({ ...styledTokens('light'), ...light }, Object.values(grounds.light)),
        ...tooLow({ ...styledTokens('dark'), ...dark }, Object.values(grounds.dark)),
      ];
      expect({ accent, low }).toEqual({ accent, low: [] });
    }
  });

  it('A brand colour stays exactly as configured on the light page', () => {
    expect(accentThemes('#6d28d9').light.accent).toBe('#6d28d9');
    expect(accentThemes('#0e6b5e').light).toMatchObject({ accent: '#0e6b5e', 'on-accent': '#ffffff', link: '#0e6b5e' });
  });

  it('A bright brand colour gets dark text and a darker colour for links', () => {
    const { light } = accentThemes('#e8590c');
    expect(light['on-accent']).not.toBe('#ffffff');
    expect(light.link).not.toBe('#e8590c');
  });

  it.each(['#ffd400', '#ffffff', '#f97316', '#9be7ff'])(
    'The colour %s is too light, and the fault states its contrast and suggests another colour',
    (accent) => {
      const fault = accentFault(accent) ?? '';
      const reached = Number(/contrast of ([\d.]+):1/.exec(fault)?.[1]);
      expect(reached).toBeLessThan(3);
      const better = /for example (#[\da-f]{6})/.exec(fault)?.[1] ?? '';
      expect(accentFault(better)).toBeUndefined();
    },
  );

  it.each(['red', '#12', '}body{display:none'])('The text %s is not a colour', (accent) => {
    expect(accentFault(accent)).toMatch(/write a colour as #rrggbb/);
  });
});

describe('the stylesheet', () => {
  it.each(['light', 'dark'] as const)(
    'The stylesheet has the backgrounds that brand colours are measured against (%s)',
    (theme) => {
      expect(styledTokens(theme)).toMatchObject(grounds[theme]);
    },
  );

  it.each(['light', 'dark'] as const)('The stylesheet has default colours that are readable (%s)', (theme) => {
    const own = styledTokens(theme);
    const tokens = { ...own, link: own.accent ?? '', 'link-hover': own['accent-hover'] ?? '' };
    expect(tooLow(tokens, Object.values(grounds[theme]))).toEqual([]);
    for (const ink of ['ink', 'ink-2', 'ink-3']) {
      for (const ground of Object.values(grounds[theme])) expect(ratio(own[ink], ground)).toBeGreaterThanOrEqual(4.5);
    }
    for (const [words, ground] of [
      ['danger', 'danger-soft'],
      ['danger', 'surface'],
      ['ok', 'ok-soft'],
      ['ok', 'surface-2'],
      ['on-warm', 'warm-soft'],
      ['on-danger', 'danger-strong'],
      ['on-danger', 'danger-hover'],
    ] as const) {
      expect({ words, ground, enough: ratio(own[words], own[ground]) >= 4.5 }).toEqual({ words, ground, enough: true });
    }
    for (const ground of Object.values(grounds[theme]))
      expect(ratio(own['line-strong'], ground)).toBeGreaterThanOrEqual(3);
  });
});

describe('the configuration of brand and links', () => {
  const faultsOf = (environment: Record<string, string>) => {
    try {
      loadConfig({ NODE_ENV: 'test', SECRET_KEY: 'x'.repeat(32), SANDBOX: 'true', ...environment });
      return [];
    } catch (error) {
      if (error instanceof ConfigurationError) return error.faults;
      throw error;
    }
  };

  it('A colour with too little contrast is reported together with every other fault', () => {
    const faults = faultsOf({ BRAND_ACCENT: '#ffd400', BRAND_LOGO_URL: 'logo.svg', APP_PATHS: 'purse=/wallet' });
    expect(faults).toEqual([
      expect.stringMatching(/^APP_PATHS: write name=\/path.*wallet/),
      expect.stringMatching(/^BRAND_LOGO_URL: write an absolute address/),
      expect.stringMatching(/^BRAND_ACCENT: #ffd400 has a contrast of 1\.2:1 .* for example #/),
    ]);
  });

  it.each([
    ['wallet=/purse', { wallet: '/purse' }],
    [' wallet = /purse , teams=/people?tab=1 ', { wallet: '/purse', teams: '/people?tab=1' }],
  ])('The configuration reads APP_PATHS=%s', (text, paths) => {
    expect(
      loadConfig({ NODE_ENV: 'test', SECRET_KEY: 'x'.repeat(32), SANDBOX: 'true', APP_PATHS: text }).APP_PATHS,
    ).toEqual(paths);
  });

  it.each(['wallet', 'wallet=purse', 'wallet=https://evil.example/', '__proto__=/x', 'wallet=/a b'])(
    'The configuration refuses APP_PATHS=%s',
    (text) => {
      expect(faultsOf({ APP_PATHS: text })).toHaveLength(1);
    },
  );
});
