import type { PlanStatusView } from './membership-view.ts';

/**
 * The plan that takes the place of the present one on a known day (milliseconds since the epoch): the user's choice, or
 * the partner's plan.
 */
export function findChange(status: PlanStatusView): { at: number; to: string } | undefined {
  if (!('at' in status) || status.at === null) return undefined;
  const { at } = status;
  if (status.kind === 'changes') return { at, to: status.to };
  return status.kind === 'ends' && status.isForDeal && status.after !== undefined
    ? { at, to: status.after }
    : undefined;
}
