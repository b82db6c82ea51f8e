import { wordsOf } from '../billing/checkout/shop.ts';
import { locationOf } from '../support/browser.ts';
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

/** The limit of a payment's request, with the steps before it; browsers and proxies wait for 60 seconds. */
const answeredInMs = 45_000;

async function timed(request: Promise<Response>): Promise<{ answer: Response; ms: number }> {
  const beganMs = performance.now();
  const answer = await request;
  return { answer, ms: performance.now() - beganMs };
}

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

    it('While PostgreSQL is late, a buyer is answered in time with a page that follows the payment, and pays once', async () => {
      const { acts, user, browser, paidBefore } = await network.prepare();
      const proxy = network.proxy('database');
      proxy.delay(2_000);
      try {
        const first = await timed(acts.purchase.send());
        const shown = await timed(browser.get(locationOf(first.answer)));
        const page = await shown.answer.text();
        const second = await timed(acts.purchase.send());
        for (const { ms } of [first, shown, second]) expect(ms).toBeLessThan(answeredInMs);
        expect([first.answer.status, shown.answer.status, second.answer.status]).toEqual([303, 200, 303]);
        expect(wordsOf(page)).toContain('Your payment is being completed');
        // Neither a button that pays, nor another one.
        expect(page).not.toMatch(/<form class="(?:actions|form)/);
        expect(shown.answer.headers.get('refresh')).toBe('8; url=/plan-purchase/12');
        expect(locationOf(second.answer)).toBe(locationOf(first.answer));
        // Answers come in time again; no connection breaks.
        proxy.delay(0);
        await waitFor(async () => {
          const next = await browser.get('/plan-purchase/12');
          expect([next.status, next.headers.get('location')]).toEqual([
            303,
            expect.stringMatching(/\/signup\/completed\/m-499$/),
          ]);
        }, 60_000);
      } finally {
        await proxy.mend();
      }
      await network.recovered();
      expect(await network.shop.planOf(user)).toBe('12');
      expect(await network.shop.paidInvoices()).toHaveLength(paidBefore + 1);
      await network.expectNoLeak();
    }, 240_000);

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
