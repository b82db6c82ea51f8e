import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mainForm, openShop, type Shop, wordsOf } from '../billing/checkout/shop.ts';
import { locationOf } from '../support/browser.ts';
import { startStripe } from '../support/stripe.ts';
import { type Fault, quickFaults } from './faulty-answers.ts';

/** `npm run test:faults` lets each request meet each fault in both ways. */
const isThorough = Number(process.env.FOYER_FAULT_SEEDS ?? 0) >= 50;
/** More requests than one purchase sends. */
const mostRequests = 30;
type FaultName = keyof typeof quickFaults;
const faults: FaultName[] = [
  'ends the connection in the middle of its answer',
  'answers 200 with a page',
  'answers half of a JSON text',
  'answers members of wrong types',
  'answers null',
  ...(isThorough
    ? (['answers what is not HTTP', 'answers 500 with a page', 'answers 200 with nothing'] satisfies FaultName[])
    : []),
];
/** JSON in another form than Stripe's is a fault that is recorded. */
const isRecorded = (what: FaultName) => what === 'answers members of wrong types' || what === 'answers null';

/** Stands between Foyer and Stripe, and answers one request in its place. */
class Between {
  target = 0;
  #left = 0;
  #fault: Fault | undefined;
  #isCarriedOut = false;
  readonly server: Server = createServer((req, res) => this.#pass(req, res));

  /** @param nth request from now on that meets the fault; `isCarriedOut`: Stripe gets it, and its answer is replaced */
  plan(nth: number, fault: Fault, isCarriedOut: boolean): void {
    [this.#left, this.#fault, this.#isCarriedOut] = [nth, fault, isCarriedOut];
  }

  /** @returns whether the planned fault has happened */
  end(): boolean {
    this.#fault = undefined;
    return this.#left <= 0;
  }

  #pass(req: IncomingMessage, res: ServerResponse): void {
    if (this.#fault) this.#left -= 1;
    const fault = this.#fault && this.#left === 0 ? this.#fault : undefined;
    if (fault && !this.#isCarriedOut) {
      req.resume().on('end', () => fault(res));
      return;
    }
    const { method, url: path, headers } = req;
    const onward = request({ port: this.target, host: '127.0.0.1', method, path, headers }, (answer) => {
      if (fault) {
        answer.resume().on('end', () => fault(res));
        return;
      }
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    req.pipe(onward);
  }
}

describe('a purchase during which Stripe answers nonsense', () => {
  const between = new Between();
  let shop: Shop;
  beforeAll(async () => {
    await new Promise<void>((resolve) => between.server.listen(0, '127.0.0.1', resolve));
    const { port } = between.server.address() as AddressInfo;
    const standIn = await startStripe();
    between.target = Number(new URL(standIn.url).port);
    shop = await openShop({ LOG_LEVEL: 'silent', STRIPE_API_URL: `http://127.0.0.1:${port}` }, standIn);
  });
  afterAll(async () => {
    await shop?.close();
    between.server.closeAllConnections();
    await new Promise((resolve) => between.server.close(resolve));
  });

  /** Of a member with a card: presses the button, meets the fault, and presses it again until it is bought. */
  async function buy(nth: number, what: FaultName, isCarriedOut: boolean): Promise<{ met: boolean; wrong?: string }> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    const customer = await shop.customerOf(user);
    const browser = await shop.foyer.signedIn(user);
    const { action, fields } = mainForm(await (await browser.get('/plan-purchase/12')).text());
    between.plan(nth, quickFaults[what], isCarriedOut);
    const answer = await browser.post(action, fields);
    const page = answer.status === 303 ? '' : wordsOf(await answer.text());
    const met = between.end();
    const isDone = answer.status === 303 && /\/completed\//.test(locationOf(answer));
    if (
      !isDone &&
      (![200, 303, isRecorded(what) ? 500 : 503].includes(answer.status) ||
        (page !== '' && !/try again|again in/i.test(page)))
    )
      return { met, wrong: `${answer.status}: ${page}` };
    if (!isDone) {
      const again = await browser.post(action, fields);
      if (again.status !== 303)
        return { met, wrong: `the second time ${again.status}: ${wordsOf(await again.text())}` };
    }
    const invoices = await shop.stripe.invoices.list({ customer, status: 'paid' });
    const paid = invoices.data.filter(({ amount_paid: cents }) => cents > 0).length;
    const plan = await shop.planOf(user);
    return plan === '12' && paid === 1 ? { met } : { met, wrong: `plan ${plan}, ${paid} payments` };
  }

  it.each(faults)(
    'Whichever request it %s, the page says what to do, and the buyer pays once',
    async (what) => {
      const wrong: Record<string, string> = {};
      for (let nth = 1; nth <= mostRequests; nth += 1) {
        const ways = isThorough ? [true, false] : [(nth + faults.indexOf(what)) % 2 === 0];
        let met = false;
        for (const isCarriedOut of ways) {
          const outcome = await buy(nth, what, isCarriedOut);
          met ||= outcome.met;
          if (outcome.wrong) wrong[`request ${nth}, ${isCarriedOut ? '' : 'not '}carried out`] = outcome.wrong;
        }
        if (!met) {
          expect(wrong).toEqual({});
          expect(nth).toBeGreaterThan(3);
          return;
        }
      }
      throw new Error('the requests do not end');
    },
    120_000,
  );
});
