import type { ApiOperation } from '../../http/index.ts';
import type { PlanCommands } from '../../users/index.ts';
import type { BillingModule } from '../billing-module.ts';
import { apiErrorTexts, orUnavailable } from './api-errors.ts';
import { customerOperations } from './customer-operations.ts';
import { detailsOperations } from './details-operations.ts';
import { paymentOperations } from './payment-operations.ts';
import { planOperations } from './plan-operations.ts';

/** The JSON calls of this module, under the specification's names (section 7). */
export const membershipOperations = (billing: BillingModule): ApiOperation[] => [
  ...planOperations(billing),
  ...customerOperations(billing),
  ...detailsOperations(billing),
  ...paymentOperations(billing),
];

/** For the call that changes user records, in a lower layer. */
export const planCommands = ({ catalogue, takeFree }: BillingModule): PlanCommands => ({
  isFree: (planId) => catalogue.byId(planId)?.kind === 'free',
  async choosePlanWithoutPayment(user, planId) {
    const plan = catalogue.byId(planId);
    if (!plan) return false;
    return (await orUnavailable(apiErrorTexts.order, () => takeFree(user, plan))).kind !== 'no-change';
  },
});
