import { loadPlans, PlansFileError, parsePlans } from '../../config/plans.ts';

/**
 * The faults of the shipped plans, one of which is changed.
 * @param id of that plan
 * @param more changes of the file itself
 */
export function planFaults(id: string, change: object, more: object = {}): readonly string[] {
  const file = loadPlans();
  const plans = file.plans.map((plan) => (plan.id === id ? { ...plan, ...change } : plan));
  try {
    parsePlans(JSON.stringify({ ...file, plans, ...more }), 'plans.json');
    return [];
  } catch (error) {
    if (!(error instanceof PlansFileError)) throw error;
    return error.faults;
  }
}
