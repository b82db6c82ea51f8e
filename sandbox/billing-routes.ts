import type { Request, Router } from 'express';
import { createElement } from 'react';
import type { StandInAddress } from '../server/billing/index.ts';
import { HttpError, methodNotAllowed, type Pages, readFormField } from '../server/http/index.ts';
import type { Sessions } from '../server/sessions/index.ts';
import { dayMs } from '../server/shared/index.ts';
import type { Act, Overview } from './stripe/index.ts';
import { textsFor } from './texts.ts';
import { BillingPage } from './views/billing-page.tsx';

export const billingAddress = '/sandbox/billing';

export interface BillingRoutesDeps {
  /** After each day that passes in the stand-in: runs the periodic jobs of that day. */
  dayPassed(): Promise<void>;
  pages: Pages;
  sessions: Sessions;
  /** The address of the stand-in, perhaps in another process. Absent if Foyer uses Stripe itself, or no Stripe. */
  standIn?: StandInAddress | undefined;
}

const timeoutMs = 10_000;
/** Stripe's test numbers of cards and accounts, by the form's button. */
const numbers = {
  fail: '4000000000000341',
  mend: '4242424242424242',
  failDebit: 'DE62370400440532013001',
  mendDebit: 'DE89370400440532013000',
} as const;

/** The action of a button on the page. @throws {HttpError} badRequest */
function readAct(req: Request): Act {
  const days = readFormField(req, 'advance');
  if (/^\d{1,3}$/.test(days)) return { act: 'advance', ms: Number(days) * dayMs };
  const refund = readFormField(req, 'refund');
  if (refund) return { act: 'refund', invoice: refund };
  for (const [name, number] of Object.entries(numbers)) {
    const paymentMethod = readFormField(req, name);
    if (paymentMethod) return { act: 'card', paymentMethod, number };
  }
  throw new HttpError('badRequest', { detail: 'no act' });
}

function createControl({ apiUrl, secretKey }: StandInAddress) {
  const call = (path: string, body?: Act) =>
    fetch(`${apiUrl}/stand-in/control/${path}`, {
      headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
  return {
    /** undefined: it does not answer. */
    async overview(): Promise<Overview | undefined> {
      const response = await call('overview').catch(() => undefined);
      return response?.ok ? ((await response.json()) as Overview) : undefined;
    },
    /** The reason that it failed. */
    async act(act: Act): Promise<string | undefined> {
      const response = await call('act', act).catch((error: unknown) => String(error));
      if (typeof response === 'string') return response;
      if (response.ok) return undefined;
      const { error } = (await response.json()) as { error: { message: string } };
      return error.message;
    },
  };
}

/** Advances the time day by day. @returns the reason of a failure */
async function executeAct(
  control: ReturnType<typeof createControl>,
  act: Act,
  dayPassed: BillingRoutesDeps['dayPassed'],
): Promise<string | undefined> {
  if (act.act !== 'advance') return control.act(act);
  for (let remainingMs = act.ms; remainingMs > 0; remainingMs -= dayMs) {
    const fault = await control.act({ act: 'advance', ms: Math.min(dayMs, remainingMs) });
    if (fault !== undefined) return fault;
    await dayPassed();
  }
  return undefined;
}

/** The page of the stand-in for Stripe: its objects, and its manual controls. */
export function billingRoutes(router: Router, { pages, sessions, standIn, dayPassed }: BillingRoutesDeps): void {
  if (standIn === undefined) return;
  const control = createControl(standIn);
  router
    .route(billingAddress)
    .get(async (req, res) => {
      await sessions.getCurrentUser(req);
      const state = await control.overview();
      pages.send({ req, res }, (ctx) => createElement(BillingPage, { ctx, address: billingAddress, state }), {
        title: (ctx) => textsFor(ctx)('sandbox.billingPage.title'),
      });
    })
    .post(async (req, res) => {
      const fault = await executeAct(control, readAct(req), dayPassed);
      if (fault === undefined) return res.redirect(303, billingAddress);
      await sessions.getCurrentUser(req);
      const state = await control.overview();
      pages.send({ req, res }, (ctx) => createElement(BillingPage, { ctx, address: billingAddress, state, fault }), {
        status: 409,
        title: (ctx) => textsFor(ctx)('sandbox.billingPage.title'),
        address: billingAddress,
      });
    })
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
