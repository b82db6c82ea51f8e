import type { TestStripe } from '../support/stripe.ts';

interface StoredState {
  engine: { objects: { id: string; billing_mode?: object }[] };
}

const modes = {
  classic: { type: 'classic', flexible: null },
  included: { type: 'flexible', flexible: { proration_discounts: 'included' } },
  itemized: { type: 'flexible', flexible: { proration_discounts: 'itemized' } },
} as const;
export type ModeName = keyof typeof modes;

/** Gives subscriptions a billing mode that Stripe does not migrate back to: those of an earlier release have it. */
export function setBillingMode(stripe: TestStripe, subscriptionId: string | null | undefined, mode: ModeName): void {
  const state = stripe.snapshot() as StoredState;
  for (const object of state.engine.objects) if (object.id === subscriptionId) object.billing_mode = modes[mode];
  stripe.restore(state);
}
