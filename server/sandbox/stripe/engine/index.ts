/**
 * The engine of the stand-in for Stripe: Stripe's objects, money and clock without its wire. It answers what the
 * product asks, in the shape of Stripe's API of 2026-10-28; anything else it refuses, it never guesses.
 */
import { routeOf } from './routes.ts';
import { createState } from './state.ts';
import { type Engine, type EngineOptions, StandInError, unknownToStandIn } from './types.ts';

export { type Engine, type EngineOptions, type ErrorType, StandInError, type StripeEvent } from './types.ts';

export function createEngine(options: EngineOptions): Engine {
  const state = createState(options);
  const due = () => {};
  return {
    call(method, path, params, as) {
      due();
      const route = routeOf(method, path);
      if (!route) throw unknownToStandIn(`${method} ${path}`);
      if (as === 'publishable' && !route.publishable) {
        throw new StandInError(
          'This API call cannot be made with a publishable API key. Please use a secret API key.',
          { status: 401, code: 'secret_key_required' },
        );
      }
      return state.perform(() => structuredClone(route.answer(state, params, as)));
    },
    find: (id) => structuredClone(state.shown(id)),
    snapshot: () => state.snapshot(),
    restore: (snapshot) => state.restore(snapshot),
    nowMs: () => state.nowMs(),
    advance(ms) {
      state.move(ms);
      due();
    },
    authenticate: (intentId) => {
      throw unknownToStandIn(`how to authenticate ${intentId} yet`);
    },
    refund: (invoiceId) => {
      throw unknownToStandIn(`how to refund ${invoiceId} yet`);
    },
    dispute: (invoiceId) => {
      throw unknownToStandIn(`how to dispute ${invoiceId} yet`);
    },
    setCardBehaviour: (id) => {
      throw unknownToStandIn(`how to change ${id} yet`);
    },
  };
}
