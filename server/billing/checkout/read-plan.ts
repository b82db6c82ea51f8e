import type { RequestContext } from '../../http/index.ts';
import { type PlanId, type PlanKey, toPlanId, toPlanKey } from '../../shared/index.ts';

/** The plan in the form; '' if there is none. */
export const readPlanId = (r: RequestContext): PlanId => toPlanId(r.field('planId'));

/** The plan's public handle in the path. */
export function readPlanKey(r: RequestContext): PlanKey | undefined {
  const planKey = r.param('planHash');
  return planKey === '' ? undefined : toPlanKey(planKey);
}
