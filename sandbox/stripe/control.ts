import express, { type Router } from 'express';
import { z } from 'zod';
import { dayMs } from '../../server/shared/index.ts';
import { isBrowser } from './api.ts';
import { type Engine, StandInError } from './engine/index.ts';

/** The data of the sandbox's page. Money in cents, times in milliseconds. */
export interface Overview {
  nowMs: number;
  /** How far the clock was advanced. */
  movedMs: number;
  /** Newest first. */
  promotionCodes: { code: string; name: string | null; valid: boolean }[];
  customers: {
    id: string;
    email: string | null;
    name: string | null;
    /** Cards, and the bank debits beside them. */
    methods: { id: string; brand: string; last4: string; isDebit: boolean }[];
    subscriptions: {
      id: string;
      status: string;
      price: string;
      cents: number;
      currency: string;
      /** The end of the period, or of the trial. */
      untilMs: number;
      endsThen: boolean;
    }[];
    invoices: {
      id: string;
      number: string | null;
      status: string;
      cents: number;
      currency: string;
      atMs: number;
      address: string | null;
      refundable: boolean;
    }[];
  }[];
}

const maxCustomers = 20;

const acts = z.discriminatedUnion('act', [
  z.object({
    act: z.literal('advance'),
    ms: z
      .int()
      .min(1)
      .max(400 * dayMs),
  }),
  z.object({ act: z.literal('refund'), invoice: z.string(), cents: z.int().positive().optional() }),
  z.object({ act: z.literal('dispute'), invoice: z.string() }),
  z.object({ act: z.literal('card'), paymentMethod: z.string(), number: z.string() }),
]);
/** The actions of the sandbox's page; `card` makes a saved card or bank debit behave as that test number. */
export type Act = z.infer<typeof acts>;

type Row = Record<string, unknown> & { id: string };

function toMethod({ id, type, card, sepa_debit: debit }: Row): Overview['customers'][number]['methods'][number] {
  const { brand = String(type), last4 = '' } = (card ?? debit ?? {}) as { brand?: string; last4?: string };
  return { id, brand, last4, isDebit: type === 'sepa_debit' };
}

/** Everything that the page shows, newest customers first. */
function overview(engine: Engine, now: () => number): Overview {
  const all = (path: string, params: Record<string, unknown> = {}): Row[] =>
    (engine.call({ method: 'GET', path, params }) as { data: Row[] }).data;
  const seconds = (value: unknown) => Number(value) * 1_000;
  const customers = all('/v1/customers').slice(0, maxCustomers);
  return {
    nowMs: engine.nowMs(),
    movedMs: engine.nowMs() - now(),
    promotionCodes: all('/v1/promotion_codes').map(({ code, active, promotion }) => {
      const coupon = engine.find((promotion as { coupon: string }).coupon);
      return {
        code: String(code),
        name: (coupon?.name as string | null | undefined) ?? null,
        valid: active === true && coupon?.valid === true,
      };
    }),
    customers: customers.map((customer) => ({
      id: customer.id,
      email: customer.email as string | null,
      name: (customer.name as string | null | undefined) ?? null,
      methods: all(`/v1/customers/${customer.id}/payment_methods`).map(toMethod),
      subscriptions: all('/v1/subscriptions', { customer: customer.id, status: 'all' }).map((subscription) => {
        const [item] = (subscription.items as { data: Row[] }).data;
        const price = item?.price as { lookup_key: string | null; id: string; unit_amount: number; currency: string };
        return {
          id: subscription.id,
          status: String(subscription.status),
          price: price.lookup_key ?? price.id,
          cents: price.unit_amount,
          currency: price.currency,
          untilMs: seconds(item?.current_period_end),
          endsThen: subscription.cancel_at !== null,
        };
      }),
      invoices: all('/v1/invoices', { customer: customer.id }).map((invoice) => ({
        id: invoice.id,
        number: invoice.number as string | null,
        status: String(invoice.status),
        cents: Number(invoice.total),
        currency: String(invoice.currency),
        atMs: seconds(invoice.created),
        address: (invoice.hosted_invoice_url as string | null | undefined) ?? null,
        refundable: invoice.status === 'paid' && Number(invoice.amount_paid) > 0,
      })),
    })),
  };
}

function executeAct(engine: Engine, act: Act): void {
  if (act.act === 'advance') engine.advance(act.ms);
  else if (act.act === 'refund') engine.refund(act.invoice, act.cents);
  else if (act.act === 'dispute') engine.dispute(act.invoice);
  else engine.setCardBehaviour(act.paymentMethod, act.number);
}

/**
 * Actions that Stripe does not offer: advancing time, refunds. Only with the secret key, and never from a browser, in
 * which other sites may be open.
 */
export function controlRoutes(
  router: Router,
  { engine, secretKey, now, onChange }: { engine: Engine; secretKey: string; now(): number; onChange(): void },
): void {
  router.use('/stand-in/control', (req, res, next) => {
    if (req.get('authorization') === `Bearer ${secretKey}` && !isBrowser(req)) return next();
    res.status(401).json({ error: { message: 'The secret key is missing' } });
  });
  router.get('/stand-in/control/overview', (_req, res) => {
    res.json(overview(engine, now));
  });
  router.get('/stand-in/control/clock', (_req, res) => {
    res.json({ movedMs: engine.nowMs() - now() });
  });
  router.post('/stand-in/control/act', express.json(), (req, res) => {
    const act = acts.safeParse(req.body);
    if (!act.success) return void res.status(400).json({ error: { message: z.prettifyError(act.error) } });
    try {
      executeAct(engine, act.data);
    } catch (error) {
      if (!(error instanceof StandInError)) throw error;
      return void res.status(error.status).json({ error: { message: error.message } });
    } finally {
      onChange();
    }
    res.json({ nowMs: engine.nowMs() });
  });
}
