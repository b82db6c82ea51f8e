import { findUser } from '../../server/users/index.ts';
import { secondBackends } from '../support/stores.ts';
import { type Act, answerOf, type Network, openBehindNetwork, type Which } from './network-steps.ts';

/** No wait for an answer is part of it: a connection that is cut is noticed. */
const soonMs = 10_000;
/** More messages than the longest of these acts sends. */
const mostMessages = 80;

interface Cut {
  what: string;
  store: Which;
  text: string;
  kind: 'unsent' | 'unanswered';
}
const cuts: Cut[] = [
  { what: 'COMMIT', store: 'database', text: 'commit\0', kind: 'unsent' },
  { what: 'COMMIT', store: 'database', text: 'commit\0', kind: 'unanswered' },
  { what: 'message to Redis', store: 'keyValue', text: '', kind: 'unsent' },
  { what: 'message to Redis', store: 'keyValue', text: '', kind: 'unanswered' },
];

type Prepared = Awaited<ReturnType<Network['prepare']>>;

const [servers] = secondBackends;
if (!servers) {
  it('Without servers for the stores no answer can be cut', () => expect(secondBackends).toEqual([]));
} else {
  describe.each(cuts)('connections that are cut at each $what in turn, which stays $kind', ({ store, text, kind }) => {
    let network: Network;
    beforeAll(async () => {
      network = await openBehindNetwork(servers);
    }, 60_000);
    afterAll(() => network?.shop.close());

    /**
     * Sends an act with its first, second, … message cut, until it has no more of them.
     * @param judge gets the status and the page once all works again
     * @returns the number of cuts
     */
    async function eachCut(
      choose: (prepared: Prepared) => Act,
      judge: (prepared: Prepared, answer: { status: number; page: string }) => Promise<void>,
    ): Promise<number> {
      for (let nth = 1; nth <= mostMessages; nth += 1) {
        const prepared = await network.prepare();
        const isSprung = network.proxy(store).trap({ text, kind, nth });
        const answer = await answerOf(choose(prepared), soonMs);
        network.proxy(store).disarm();
        await network.recovered();
        await judge(prepared, answer);
        if (!isSprung()) return nth - 1;
      }
      throw new Error('the messages do not end');
    }

    it('A purchase is paid once, with one order, when its buyer presses the button again', async () => {
      const count = await eachCut(
        ({ acts }) => acts.purchase,
        async ({ acts, user, paidBefore }, { status }) => {
          if (status === 503) expect((await acts.purchase.send()).status).toBe(303);
          expect(await network.shop.planOf(user)).toBe('12');
          expect(await network.shop.paidInvoices()).toHaveLength(paidBefore + 1);
        },
      );
      expect(count).toBeGreaterThan(0);
      await network.expectNoLeak();
    }, 300_000);

    it('An acknowledged name is stored, and no page says that nothing has changed when it has', async () => {
      await eachCut(
        ({ acts }) => acts.name,
        async ({ acts, user }, { status, page }) => {
          const stored = (await findUser(network.shop.foyer.deps.database.db, user.id))?.givenName;
          if (status === 303) expect(stored).toBe('Adele');
          if (stored === 'Adele') expect(page).not.toMatch(/Nothing has been changed/);
          expect((await acts.name.send()).status).toBe(303);
        },
      );
    }, 300_000);

    it('A sign-in works at the second try', async () => {
      await eachCut(
        ({ acts }) => acts.signIn,
        async ({ acts, visitor }, { status }) => {
          if (status === 503) expect((await acts.signIn.send()).status).toBe(303);
          expect((await visitor.get('/settings')).status).toBe(200);
        },
      );
    }, 300_000);

    it('A code gives tokens at the second call, or is refused as used when the first one has used it up', async () => {
      await eachCut(
        ({ acts }) => acts.exchange,
        async ({ acts }, { status }) => {
          if (status === 200) return;
          const again = await acts.exchange.send();
          const { error } = (await again.json()) as { error?: string };
          expect(['200 undefined', '400 invalid_grant']).toContain(`${again.status} ${error}`);
        },
      );
    }, 300_000);
  });
}
