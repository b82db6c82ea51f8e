import { randomBytes } from 'node:crypto';
import express, { type Response, type Router } from 'express';
import { type Engine, StandInError } from './engine/index.ts';

type Json = Record<string, unknown>;

const escaped: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escapeHtml = (value: unknown) => String(value ?? '').replace(/[&<>"']/g, (char) => escaped[char] ?? char);
const formatMoney = (cents: unknown, currency: unknown) =>
  new Intl.NumberFormat('en', { style: 'currency', currency: String(currency ?? 'usd') }).format(Number(cents) / 100);
const formatDay = (seconds: unknown) => new Date(Number(seconds) * 1_000).toISOString().slice(0, 10);

const style = `
:root { color-scheme: light dark; }
body { margin: 0; padding: 1.25rem; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; }
h1 { margin: 0 0 .75rem; font-size: 1.25rem; line-height: 1.3; }
p { margin: 0 0 1rem; }
.note { margin-top: 1rem; opacity: .8; font-size: .875rem; }
form { display: flex; flex-wrap: wrap; gap: .75rem; }
button { min-height: 2.75rem; padding: 0 1.25rem; border: 1px solid; border-radius: .5rem; background: none; color: inherit; font: inherit; }
button.main { border-color: #4b45a8; background: #4b45a8; color: #fff; }
button:focus-visible { outline: 3px solid #7f7ae0; outline-offset: 2px; }
table { width: 100%; border-collapse: collapse; margin: 0 0 1rem; }
th, td { padding: .5rem 0; border-bottom: 1px solid #8888; text-align: start; vertical-align: top; font-weight: 400; }
td:last-child { text-align: end; white-space: nowrap; }
tr.sum th, tr.sum td { font-weight: 650; }
`;

/** A page of the stand-in itself: it is not one of Foyer's, and looks different. */
function sendPage(
  res: Response,
  {
    status = 200,
    title,
    body,
    script = '',
    formAction = '',
  }: {
    status?: number;
    title: string;
    body: string;
    script?: string;
    /** The origin to which its form leads in the end. */
    formAction?: string | undefined;
  },
): void {
  const nonce = randomBytes(16).toString('base64');
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    `form-action 'self' ${formAction}`.trim(),
    "base-uri 'none'",
  ];
  res.set({
    'Content-Security-Policy': policy.join('; '),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  });
  res
    .status(status)
    .type('html')
    .send(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>` +
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">' +
        `<style nonce="${nonce}">${style}</style></head><body><main>${body}</main>` +
        `${script === '' ? '' : `<script nonce="${nonce}">${script}</script>`}</body></html>`,
    );
}

const notFound = (res: Response) =>
  sendPage(res, {
    status: 404,
    title: 'Not found',
    body: '<h1>Not found</h1><p>The stand-in for Stripe does not know this.</p>',
  });

/** The page that the customer comes from; undefined: Stripe.js has opened the bank's page in a dialog. */
const toRedirect = ({ next_action: action }: Json): string | undefined =>
  (action as { redirect_to_url?: { return_url: string } } | null)?.redirect_to_url?.return_url;

/** The address with the intent's parameters, as Stripe adds them. */
function returnAddress(before: Json, after: Json | undefined): string | undefined {
  const address = toRedirect(before);
  if (address === undefined || !after) return undefined;
  const url = new URL(address);
  const kind = String(after.object);
  url.searchParams.set(kind, String(after.id));
  url.searchParams.set(`${kind}_client_secret`, String(after.client_secret));
  url.searchParams.set('redirect_status', after.status === 'succeeded' ? 'succeeded' : 'failed');
  return url.href;
}

/** The bank's page, where a user authenticates for a card (3-D Secure), or allows a debit. */
function challengeRoutes(router: Router, engine: Engine, onChange: () => void): void {
  const address = '/stand-in/authenticate/:intent';
  const findIntent = (id: string): Json | undefined => {
    const found = engine.find(id);
    return found?.object === 'setup_intent' || found?.object === 'payment_intent' ? found : undefined;
  };
  router.get(address, (req, res) => {
    const intent = findIntent(req.params.intent);
    if (!intent) return notFound(res);
    const action =
      intent.object === 'payment_intent'
        ? `a payment of ${escapeHtml(formatMoney(intent.amount, intent.currency))}`
        : toRedirect(intent) === undefined
          ? 'saving this card'
          : 'that your account may be debited';
    sendPage(res, {
      title: 'Your bank asks',
      formAction: URL.parse(toRedirect(intent) ?? '')?.origin,
      body: `<h1>Your bank asks: is it you?</h1><p>Confirm ${action}.</p>
      <form method="post"><button class="main" name="outcome" value="succeed">${toRedirect(intent) === undefined ? 'Complete' : 'Authorize'}</button>
      <button name="outcome" value="fail">Fail</button></form>
      <p class="note">This page stands for the one of a bank (3-D Secure). No money moves.</p>`,
    });
  });
  router.post(address, express.urlencoded({ extended: false }), (req, res) => {
    const { intent: id } = req.params as { intent: string };
    const intent = findIntent(id);
    if (!intent) return notFound(res);
    const outcome = req.body?.outcome === 'succeed' ? 'succeed' : 'fail';
    try {
      engine.authenticate(id, outcome);
    } catch (error) {
      // Answered twice, or too late: the opener reads the intent again.
      if (!(error instanceof StandInError)) throw error;
    }
    onChange();
    const back = returnAddress(intent, findIntent(id));
    if (back !== undefined) return res.redirect(303, back);
    const message = JSON.stringify({ source: 'stripe-stand-in', intent: id, outcome }).replaceAll('<', '\\u003c');
    sendPage(res, {
      title: 'Thank you',
      body: '<h1>Thank you</h1><p>You may go back to where you came from.</p>',
      script: `(window.opener ?? window.parent).postMessage(${message}, '*');`,
    });
  });
}

function lineRow(line: Json, currency: unknown): string {
  return `<tr><th scope="row">${escapeHtml(line.description)}</th><td>${escapeHtml(formatMoney(line.amount, currency))}</td></tr>`;
}

/** Stripe's page of an invoice for the customer. */
function invoiceRoutes(router: Router, engine: Engine): void {
  router.get('/stand-in/invoices/:id{/:form}', (req, res) => {
    const invoice = engine.find(req.params.id);
    if (invoice?.object !== 'invoice') return notFound(res);
    const { currency } = invoice;
    const lines = (invoice.lines as { data: Json[] }).data.map((line) => lineRow(line, currency)).join('');
    const discounts = (invoice.total_discount_amounts as Json[] | null) ?? [];
    const discount = discounts.reduce((sum, each) => sum + Number(each.amount), 0);
    const sums: [string, unknown][] = [
      ['Subtotal', invoice.subtotal],
      ...(discount > 0 ? [['Discount', -discount] as [string, unknown]] : []),
      ['Total', invoice.total],
      ['Amount due', invoice.amount_due],
      ['Amount paid', invoice.amount_paid],
    ];
    const rows = sums.map(
      ([name, cents]) =>
        `<tr class="sum"><th scope="row">${name}</th><td>${escapeHtml(formatMoney(cents, currency))}</td></tr>`,
    );
    sendPage(res, {
      title: `Invoice ${invoice.number ?? ''}`,
      body: `<h1>Invoice ${escapeHtml(invoice.number)}</h1><p>${escapeHtml(invoice.customer_email)}<br>${formatDay(invoice.created)}, ${escapeHtml(invoice.status)}</p>
      <table><tbody>${lines}${rows.join('')}</tbody></table>
      <p class="note">This page stands for Stripe’s. No one owes anything.</p>`,
    });
  });
}

/** Pages that Stripe or a bank would show to the customer. */
export function hostedPages(router: Router, engine: Engine, onChange: () => void): void {
  challengeRoutes(router, engine, onChange);
  invoiceRoutes(router, engine);
}
