import type { Request } from 'express';
import { readFormField } from '../../http/index.ts';
import { type PlanId, type PlanKey, toPlanId, toPlanKey } from '../../shared/index.ts';

/** The plan in the form; '' if there is none. */
export const readPlanId = (req: Request): PlanId => toPlanId(readFormField(req, 'planId'));

/** The plan's public handle in the path. */
export const readPlanKey = ({ params: { planHash } }: Request): PlanKey | undefined =>
  typeof planHash === 'string' ? toPlanKey(planHash) : undefined;
