import { listApps, logoOrigins, matchesSearch } from '../../server/oidc/apps.ts';
import { type ClientRequest, clientMetadata, createCanAccessClient } from '../../server/oidc/index.ts';
import { toClientId, toPlanId } from '../support/ids.ts';

const client = (id: string, more: Partial<ClientRequest> = {}) =>
  clientMetadata({ id, name: id, redirectUris: [`https://${id}.example/cb`], ...more }, { development: false });
const rules = {
  canAccessClient: createCanAccessClient(({ planId }) => ({ plan: planId ?? undefined, entitlements: [] })),
  publicUrl: 'https://foyer.example',
  defaultClientId: toClientId('web'),
  lastUses: new Map(),
};
const member = { planId: toPlanId('12'), seats: null, trialUntil: null };
const shown = (...clients: ReturnType<typeof client>[]) => listApps(member, clients, rules);

describe('the apps of the dashboard', () => {
  it('Apps are listed by name, and their start address gets the issuer as iss', () => {
    const apps = shown(
      client('zebra', { logo: 'https://cdn.example/z.png' }),
      client('b', { name: 'École', logbackUri: 'https://b.example/in?from=here' }),
      client('c', { name: 'Events' }),
    );
    expect(apps).toEqual([
      {
        id: 'b',
        name: 'École',
        href: 'https://b.example/in?from=here&iss=https%3A%2F%2Ffoyer.example',
        host: 'b.example',
      },
      { id: 'c', name: 'Events' },
      { id: 'zebra', name: 'zebra', logoUrl: 'https://cdn.example/z.png' },
    ]);
  });

  it('The most recently used apps are first', () => {
    const lastUses = new Map([
      [toClientId('c'), 1_000],
      [toClientId('d'), 2_000],
    ]);
    const apps = listApps(member, [client('a'), client('b'), client('c'), client('d')], { ...rules, lastUses });
    expect(apps.map(({ id }) => id)).toEqual(['d', 'c', 'a', 'b']);
  });

  it('An app for other plans has no start address, only the page that explains why', () => {
    const logbackUri = 'https://a.example/in';
    expect(shown(client('a', { logbackUri, requiredPlans: ['13'] }))).toEqual([
      { id: 'a', name: 'a', limitedHref: '/not-in-plan?client_id=a' },
    ]);
    expect(shown(client('a', { logbackUri, requiredPlans: ['12'] }))[0]?.href).toContain(logbackUri);
  });

  it('Hidden clients, services and Foyer’s own client are not listed', () => {
    const service = client('batch', { redirectUris: [], service: true, scopes: ['users:read'] });
    expect(shown(client('secret', { hidden: true }), service, client('web'))).toEqual([]);
    const device = client('tv', { redirectUris: [], device: true });
    expect(shown(device, client('web', { logbackUri: 'https://a.example/' })).map(({ id }) => id)).toEqual([
      'tv',
      'web',
    ]);
  });
});

describe('search', () => {
  const apps = [
    { id: 'academy', name: 'Die Akadémie' },
    { id: 'e-17', name: 'Events on the web', host: 'shop.example' },
    { id: 'x', name: '100 % Orange' },
  ];
  it.each([
    ['', ['academy', 'e-17', 'x']],
    ['akademie', ['academy']],
    ['AKADE die', ['academy']],
    ['web', ['e-17']],
    ['e-17', []],
    ['shop', []],
    ['%', ['x']],
    ['[a-z]+', []],
    ['ﬀ', []],
  ])('The search for %j finds the matching apps', (words, ids) => {
    expect(matchesSearch(apps, words).map(({ id }) => id)).toEqual(ids);
  });
});

it('Logos may be loaded from the origins of the apps, up to 30 of them', () => {
  const many = Array.from({ length: 100 }, (_, at) => ({ logoUrl: `https://h${at}.example/l.png` }));
  expect(logoOrigins([{ logoUrl: 'https://a.example/1' }, { logoUrl: 'https://a.example/2' }, {}])).toEqual([
    'https://a.example',
  ]);
  expect(logoOrigins([{ logoUrl: 'data:image/png;base64,x' }])).toEqual([]);
  expect(logoOrigins(many)).toHaveLength(30);
});
