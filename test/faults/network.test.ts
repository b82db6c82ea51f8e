import type { ServerProxy } from '../support/proxy.ts';
import { secondBackends } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';
import { answerOf, type Network, openBehindNetwork, type Which } from './network-steps.ts';

interface Fault {
  name: string;
  begin(proxy: ServerProxy): unknown;
}
const stores: Which[] = ['database', 'keyValue'];
const faults: Fault[] = [
  { name: 'hangs without closing', begin: (proxy) => proxy.freeze() },
  { name: 'is behind a lost route', begin: (proxy) => proxy.strand() },
  { name: 'breaks all connections', begin: (proxy) => proxy.cut() },
  { name: 'refuses connections', begin: (proxy) => proxy.refuse() },
];
const late: Fault = { name: 'answers two seconds late', begin: (proxy) => proxy.delay(2_000) };
const cases = stores.flatMap((store) => faults.map((fault) => ({ ...fault, store })));

/** One wait for an answer of PostgreSQL takes 10 seconds; the rest is for a machine that is busy. */
const oneWaitMs = 20_000;

const [servers] = secondBackends;
if (!servers) {
  it('Without servers for the stores no network is between', () => expect(secondBackends).toEqual([]));
} else {
  describe('a store behind a network that fails', () => {
    let network: Network;
    beforeAll(async () => {
      network = await openBehindNetwork(servers);
    }, 60_000);
    afterAll(() => network?.shop.close());

    it.each([...cases, { ...late, store: 'keyValue' as const }])(
      'While $store $name, requests end with their answer or a page that says what to do; then all works by itself',
      async ({ store, begin }) => {
        const { acts, user, visitor, paidBefore } = await network.prepare();
        const proxy = network.proxy(store);
        await begin(proxy);
        const during = await Promise.all(
          Object.values(acts).map(async (act) => ({ act, ...(await answerOf(act, oneWaitMs)) })),
        ).finally(() => proxy.mend());

        await network.recovered();
        // What was acknowledged is not sent again.
        for (const { act, status } of during.filter((one) => one.status !== one.act.good)) {
          expect([status, (await act.send()).status]).toEqual([503, act.good]);
        }
        expect((await visitor.get('/settings')).status).toBe(200);
        expect(await network.shop.planOf(user)).toBe('12');
        expect(await network.shop.paidInvoices()).toHaveLength(paidBefore + 1);
        await network.expectNoLeak();
      },
      120_000,
    );

    it('While PostgreSQL answers two seconds late, members sign in, and read their pages', async () => {
      const { acts, visitor } = await network.prepare();
      const proxy = network.proxy('database');
      proxy.delay(2_000);
      // A sign-in asks nine times, one after the other.
      const during = [acts.page, acts.signIn, acts.exchange].map((act) => answerOf(act, 60_000));
      const answers = await Promise.all(during).finally(() => proxy.mend());
      expect(answers.map(({ status }) => status)).toEqual([200, 303, 200]);
      await network.recovered();
      expect((await visitor.get('/settings')).status).toBe(200);
      await network.expectNoLeak();
    }, 120_000);

    it('A buyer who gives up while PostgreSQL is late, and presses the button again later, pays once', async () => {
      const { acts, user, browser, paidBefore } = await network.prepare();
      const { standIn } = network.shop;
      const proxy = network.proxy('database');
      let asked = 0;
      standIn.observe(() => {
        asked += 1;
      });
      proxy.delay(2_000);
      const first = acts.purchase.send().then(
        ({ status }) => status,
        () => 'broken',
      );
      // Stripe has been asked, so the purchase is under way.
      await waitFor(() => expect(asked).toBeGreaterThan(0), 60_000);
      await proxy.mend();
      await network.recovered();
      const again = await acts.purchase.send();
      expect([303, 503, 409]).toContain(again.status);
      await first;
      await waitFor(async () => expect(await network.shop.planOf(user)).toBe('12'));
      expect((await browser.get('/settings')).status).toBe(200);
      expect(await network.shop.paidInvoices()).toHaveLength(paidBefore + 1);
      await network.expectNoLeak();
    }, 120_000);
  });
}
