/**
 * The engine of the stand-in for Stripe: Stripe's objects, money and clock without its wire format. It answers the
 * product's requests in the shape of Stripe's API of 2026-10-28, and refuses all others without guessing.
 */

import { runDueTasks } from './clock.ts';
import { discountCustomer } from './discounts.ts';
import { moveDispute, openDispute } from './disputes.ts';
import { authenticate } from './intents.ts';
import { endRefund, getChargeOfInvoice, refundCharge, setCardBehaviour } from './refunds.ts';
import { findRoute } from './routes.ts';
import { createState } from './state.ts';
import { pause } from './subscription-lifecycle.ts';
import { type Engine, type EngineOptions, StandInError, unknownToStandIn } from './types.ts';

export {
  type Engine,
  type EngineOptions,
  type EngineRequest,
  type ErrorType,
  type KeyKind,
  StandInError,
  type StripeEvent,
} from './types.ts';

export function createEngine(options: EngineOptions): Engine {
  const state = createState(options);
  const perform = <T>(work: () => T): T => {
    runDueTasks(state);
    return state.perform(work);
  };
  return {
    call({ method, path, params = {}, as = 'secret' }) {
      const route = findRoute(method, path);
      if (!route) throw unknownToStandIn(`${method} ${path}`);
      if (as === 'publishable' && !route.publishable) {
        throw new StandInError(
          'This API call cannot be made with a publishable API key. Please use a secret API key.',
          { status: 401, code: 'secret_key_required' },
        );
      }
      return perform(() => structuredClone(route.answer(state, params, as)));
    },
    find: (id) => structuredClone(state.findVisible(id)),
    snapshot: () => state.snapshot(),
    restore: (snapshot) => state.restore(snapshot),
    nowMs: () => state.nowMs(),
    advance(ms) {
      if (ms < 0) throw new Error('the clock does not run backwards');
      runDueTasks(state);
      state.move(ms);
      runDueTasks(state);
    },
    authenticate(intentId, outcome) {
      try {
        perform(() => authenticate(state, intentId, outcome));
      } catch (error) {
        // The intent contains the bank's answer to the authentication, for later readers.
        if (!(error instanceof StandInError && error.keeps)) throw error;
      }
    },
    refund: (invoiceId, cents, status) =>
      perform(() => refundCharge(state, getChargeOfInvoice(state, invoiceId), { cents, status }).id),
    endRefund: (refundId, end) => perform(() => endRefund(state, refundId, end)),
    dispute: (invoiceId, status = 'needs_response') => perform(() => openDispute(state, invoiceId, status).id),
    moveDispute: (disputeId, status) => perform(() => moveDispute(state, disputeId, status)),
    discountCustomer: (id, coupon) => perform(() => discountCustomer(state, id, coupon)),
    pause: (id, reason) => perform(() => pause(state, state.edit('subscription', id), reason)),
    setCardBehaviour: (id, number) => perform(() => setCardBehaviour(state, id, number)),
  };
}
