import type { PlanChanges } from '../account/index.ts';
import type { Operation } from '../http/index.ts';
import { failed, orAway } from './callers.ts';
import { customerOperations } from './customer-operations.ts';
import { paymentOperations } from './payment-operations.ts';
import { planOperations } from './plan-operations.ts';
import type { MembershipRoom } from './room.ts';

/** The calls of this room in the JSON API, under the specification's names (section 7). */
export function membershipOperations(room: MembershipRoom): Operation[] {
  return [...planOperations(room), ...customerOperations(room), ...paymentOperations(room)];
}

/** For the call that changes user records, which stands in the room below. */
export const planChanges = ({ catalogue, takeFree }: MembershipRoom): PlanChanges => ({
  isFree: (planId) => catalogue.byId(planId)?.kind === 'free',
  async takeFree(user, planId) {
    const plan = catalogue.byId(planId);
    if (!plan) return false;
    return (await orAway(failed.order, () => takeFree(user, plan))).kind !== 'nothing';
  },
});
