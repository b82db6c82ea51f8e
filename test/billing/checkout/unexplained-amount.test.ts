import type { IncomingMessage } from 'node:http';
import type Stripe from 'stripe';
import { listenOnFreePort } from '../../support/foyer.ts';
import { mainForm, openShop, press, type Shop, wordsOf } from './shop.ts';

const page = '/plan-purchase/10';
const message = 'lines of an invoice do not add up to its total';

async function bodyOf(req: IncomingMessage): Promise<string | null> {
  let text = '';
  for await (const part of req.setEncoding('utf8')) text += String(part);
  return text === '' ? null : text;
}

describe('a preview whose lines do not add up to its total', () => {
  let shop: Shop;
  let close: () => void;
  /** Added to the total of each preview, but to none of its lines. */
  let unexplainedCents = 0;
  beforeAll(async () => {
    const { server, port } = await listenOnFreePort();
    // Between Foyer and Stripe: only the answers to previews are other ones.
    server.on('request', async (req, res) => {
      const answer = await fetch(shop.standIn.url + req.url, {
        method: req.method ?? 'GET',
        headers: Object.entries(req.headers).flatMap(([name, value]): [string, string][] =>
          typeof value === 'string' && !['host', 'connection', 'content-length'].includes(name) ? [[name, value]] : [],
        ),
        body: await bodyOf(req),
      });
      let text = await answer.text();
      if (req.url?.startsWith('/v1/invoices/create_preview')) {
        const preview = JSON.parse(text) as Stripe.Invoice;
        const total = preview.total + unexplainedCents;
        text = JSON.stringify({ ...preview, total, amount_due: preview.amount_due + unexplainedCents });
      }
      res.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    });
    close = () => {
      server.closeAllConnections();
      server.close();
    };
    shop = await openShop({ STRIPE_API_URL: `http://127.0.0.1:${port}` });
  });
  afterAll(async () => {
    await shop?.close();
    close?.();
  });

  async function member() {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    return { user, browser: await shop.foyer.signedIn(user) };
  }
  const logged = () =>
    shop.foyer
      .logged()
      .split('\n')
      .filter((line) => line.includes(message))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('The page has no amount and no button, says that nothing was charged, and the fault is logged with the invoice’s fields', async () => {
    unexplainedCents = 1;
    const { user, browser } = await member();
    const answer = await browser.get(page);
    const html = await answer.text();
    expect(answer.status).toBe(503);
    const words = wordsOf(html);
    expect(words).toContain('Subscription retrieval failed!');
    expect(words).toContain('You haven’t been charged. Please try again in a moment.');
    expect(words).not.toContain('$99.01');
    expect(html).not.toMatch(/<button[^>]*>Pay/);
    expect(html).not.toContain('name="dueCents"');
    const [fault] = logged();
    expect(fault).toMatchObject({
      act: 'quote',
      invoice: expect.stringContaining('upcoming_in_'),
      total: 9_901,
      subtotal: 9_900,
      amount_due: 9_901,
      starting_balance: 0,
      total_discount_amounts: [],
      items: expect.arrayContaining([{ amount: 9_900, discount_amounts: [] }]),
    });
    expect(fault).toHaveProperty('total_taxes');
    expect(JSON.stringify(fault)).not.toContain(user.email);
  });

  it('A form with the unexplained amount charges nothing, and the page sells again when the lines add up', async () => {
    unexplainedCents = 0;
    const { browser } = await member();
    const { action, fields } = mainForm(await (await browser.get(page)).text());
    unexplainedCents = 100;
    const refused = await browser.post(action, { ...fields, dueCents: '10000' });
    expect(refused.status).toBe(503);
    expect(await shop.paidInvoices()).toEqual([]);
    unexplainedCents = 0;
    expect((await press(browser, page)).status).toBe(303);
    expect((await shop.paidInvoices()).map(({ amount_paid: cents }) => cents)).toEqual([9_900]);
  });
});
