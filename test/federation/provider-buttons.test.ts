import { byStandardKind, standardProviders } from '../../config/standard-providers.ts';
import { isEmbeddedBrowser, toProviderButtons } from '../../server/federation/provider-buttons.ts';
import type { Provider } from '../../server/federation/providers.ts';
import { translator } from '../../server/http/index.ts';

const kinds = byStandardKind((kind) => standardProviders[kind].refusesEmbeddedBrowsers);
const provider = (id: string, more: Partial<Provider> = {}) =>
  ({
    id,
    kind: id in kinds ? id : 'oidc',
    name: id,
    label: {},
    logo: undefined,
    domains: [],
    signUp: true,
    secondFactor: 'ask',
    refusesEmbeddedBrowsers: kinds[id as keyof typeof kinds] ?? false,
    ...more,
  }) as Provider;
const visitor = { lang: 'de', t: translator('de'), userAgent: undefined } as const;
const buttonsOf = (...ids: string[]) =>
  toProviderButtons({ all: ids.map((id) => provider(id)) }, visitor, {
    search: '?state=x',
    clientLabel: 'foyer.example',
  });

describe('the buttons of providers', () => {
  it.each([
    ['is open without a provider', [], true],
    ['is open with one provider', ['acme'], true],
    ['is open with many providers of this list alone', ['a', 'b', 'c', 'd', 'e'], true],
    ['is open with three buttons on the page', ['amazon', 'google', 'acme'], true],
    ['is closed with four buttons on the page', ['amazon', 'google', 'facebook', 'acme'], false],
    ['is closed with one main button and three others', ['google', 'a', 'b', 'c'], false],
  ])('The list of other providers %s', (_what, ids, open) => {
    expect(buttonsOf(...ids).open).toBe(open);
  });

  it('The buttons stand in three groups, in the order of the configuration', () => {
    const { top, facebook, others, instead } = buttonsOf('amazon', 'google', 'facebook', 'zebra', 'acme');
    const of = (group: typeof top) => group.map(({ action }) => action);
    expect(of(top)).toEqual(['/federation/amazon?state=x', '/federation/google?state=x']);
    expect(of(facebook)).toEqual(['/federation/facebook?state=x']);
    expect(of(others)).toEqual(['/federation/zebra?state=x', '/federation/acme?state=x']);
    expect(instead).toBeUndefined();
  });

  it('A button has the label that is configured for the visitor’s language, else the default label', () => {
    const all = [
      provider('acme', { label: { de: 'Mit Acme-Ausweis', fr: 'Avec Acme' } }),
      provider('b', { name: 'B & C' }),
    ];
    const { others } = toProviderButtons({ all }, visitor, { search: '', clientLabel: '' });
    expect(others.map(({ label }) => label)).toEqual(['Mit Acme-Ausweis', 'Weiter mit B & C']);
  });

  it('A sign-up page shows only the providers that allow sign-up', () => {
    const all = [provider('google', { signUp: false }), provider('acme')];
    const { top, others } = toProviderButtons({ all }, visitor, { search: '', clientLabel: '', signUp: true });
    expect([top.length, others.length]).toEqual([0, 1]);
  });
});

describe('embedded browsers', () => {
  const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
  const android =
    'Mozilla/5.0 (Linux; Android 14; SM-A146U Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko)';

  it.each([
    ['Facebook on Android', `${android} Version/4.0 Chrome/122.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/453.0;]`],
    ['any WebView of Android', `${android} Version/4.0 Chrome/122.0 Mobile Safari/537.36`],
    ['Facebook on iOS', `${iphone} Mobile/15E148 [FBAN/FBIOS;FBDV/iPhone13,3;FBSN/iOS]`],
    ['Instagram', `${iphone} Mobile/15E148 Instagram 330.0.0.0 (iPhone13,3; iOS 17_5)`],
    ['LINE', `${iphone} Mobile/15E148 Safari Line/14.8.0`],
    ['WeChat', `${iphone} Mobile/15E148 MicroMessenger/8.0.49 NetType/WIFI`],
    ['LinkedIn', `${iphone} Version/17.5 Mobile/15E148 Safari/604.1 [LinkedInApp]/9.29`],
    ['any WebView of iOS', `${iphone} Mobile/15E148`],
  ])('The user agent of %s is recognized as an embedded browser', (_what, said) => {
    expect(isEmbeddedBrowser(said)).toBe(true);
  });

  it.each([
    ['Safari on iOS', `${iphone} Version/17.5 Mobile/15E148 Safari/604.1`],
    ['Chrome on iOS', `${iphone} CriOS/126.0 Mobile/15E148 Safari/604.1`],
    ['Firefox on iOS', `${iphone} FxiOS/127.0 Mobile/15E148 Safari/605.1.15`],
    [
      'Chrome on Android',
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
    ],
    [
      'Safari on macOS',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
    ],
    ['Firefox', 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0'],
    ['a browser that sends none', undefined],
  ])('The user agent of %s is not taken for an embedded browser', (_what, said) => {
    expect(isEmbeddedBrowser(said)).toBe(false);
  });
});
