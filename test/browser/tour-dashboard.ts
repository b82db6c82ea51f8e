import type { Page } from 'playwright-core';
import type { Language } from '../../server/http/index.ts';
import type { ClientRequest } from '../../server/oidc/index.ts';
import type { Shop } from '../billing/checkout/shop.ts';
import { toClientId, toPlanId } from '../support/ids.ts';
import type { Stop } from './tour.ts';
import type { ShopTour } from './tour-membership.ts';

const names = [
  'Showcase pages',
  'Shortlist',
  'Academy',
  'Events',
  'Proposals and tenders',
  'Invoices',
  'Team',
  'Analytics',
];
const more = ['Donaudampfschifffahrtsgesellschaftskapitän', 'Messages', 'Credits', 'Help desk'];
const idOf = (name: string) => `tour-${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
/** Set once the shop has started. */
const logo = '/logo';

const app = (name: string, over: Partial<ClientRequest> = {}): Partial<ClientRequest> => ({
  id: idOf(name),
  name,
  logbackUri: 'http://127.0.0.1:9/start',
  ...over,
});

/** The dashboard in its states, and the page of a client app that is for other plans. */
export function dashboardStops({ shop, become }: ShopTour): Stop[] {
  /** The client apps of this stop alone; other stops have theirs. */
  const withApps = async ({ foyer }: Shop, apps: readonly Partial<ClientRequest>[]) => {
    await foyer.deps.database.db.deleteFrom('clients').where('id', 'like', toClientId('tour-%')).execute();
    const picture = foyer.url + foyer.deps.assets.icon;
    for (const one of apps) await foyer.addClient({ ...one, ...(one.logo === logo && { logo: picture }) });
  };
  const visit =
    (path: string, apps: readonly Partial<ClientRequest>[], planId: string | null = '10') =>
    async (page: Page, _lang?: Language) => {
      const house = await shop();
      const { foyer } = house;
      await withApps(house, apps);
      const user = await foyer.addUser({
        givenName: 'Vera',
        familyName: 'Lindqvist',
        planId: planId === null ? null : toPlanId(planId),
      });
      await become(page, await foyer.signedIn(user), foyer.url);
      await page.goto(foyer.url + path);
    };
  const many = [...names, ...more].map((name, at) =>
    app(name, { ...(at % 3 === 2 && { logo }), ...(at % 5 === 3 && { requiredPlans: ['12', '13'] }) }),
  );
  return [
    { name: 'dashboard with nothing', open: visit('/dashboard', []) },
    { name: 'dashboard with one app', open: visit('/dashboard', [app('Academy', { logo })]) },
    { name: 'dashboard with many apps', open: visit('/dashboard', many) },
    { name: 'dashboard searched', otherWords: true, open: visit('/dashboard?q=s', many) },
    { name: 'dashboard searched for nothing', otherWords: true, open: visit('/dashboard?q=zebra', many) },
    {
      name: 'dashboard with an app of another plan',
      open: visit('/dashboard', [
        app('Academy', { logo, requiredPlans: ['12', '13'] }),
        app('Events'),
        { id: idOf('Batch import'), name: 'Batch import' },
      ]),
    },
    {
      name: 'dashboard not loaded',
      async open(page) {
        const { foyer } = await shop();
        const { db } = foyer.deps.database;
        // A row that Foyer cannot read makes the page fail.
        await visit('/tos', [app('Academy')])(page);
        await db
          .updateTable('clients')
          .set({ metadata: '{' })
          .where('id', '=', toClientId(idOf('Academy')))
          .execute();
        // Its honest 503 would be one of the tour's findings.
        await page.route(`${foyer.url}/dashboard`, async (route) =>
          route.fulfill({ response: await route.fetch(), status: 200 }),
        );
        await page.goto(`${foyer.url}/dashboard`);
        await page.locator('.snackbar').waitFor();
        await db
          .deleteFrom('clients')
          .where('id', '=', toClientId(idOf('Academy')))
          .execute();
      },
    },
    {
      name: 'not in plan',
      open: visit(`/not-in-plan?client_id=${idOf('Academy')}`, [app('Academy', { requiredPlans: ['12', '13'] })]),
    },
    {
      name: 'not in any plan on sale',
      otherWords: true,
      open: visit(
        `/not-in-plan?client_id=${idOf('Academy')}`,
        [app('Academy', { logo, requiredEntitlements: ['nothing-gives-this'] })],
        null,
      ),
    },
  ];
}
