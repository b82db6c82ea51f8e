/** The part of a paid plan that says how it is sold. */
interface PaidPlan {
  id: string;
  planAmount: number;
  seats?: { min: number; max: number } | undefined;
  trialDays?: number | undefined;
}

interface SaleRules {
  consumers?: { withdrawalDays: number; afterYear?: string | undefined } | undefined;
}

/** Checks a plan that is sold by the seat. */
function seatFaults({ id, planAmount, seats }: PaidPlan, { consumers }: SaleRules): string[] {
  if (!seats) return [];
  return [
    ...(seats.min > seats.max ? [`plans: seats of ${id}: min ${seats.min} is more than max ${seats.max}`] : []),
    // Stripe charges at most 999,999.99.
    ...(planAmount * seats.max > 999_999
      ? [`plans: seats of ${id}: ${seats.max} seats cost more than 999999, the most that one charge can be`]
      : []),
    ...(consumers?.afterYear
      ? [`plans: seats of ${id}: leave consumers.afterYear out, because it does not go together with seats`]
      : []),
  ];
}

/** Checks a plan that begins with free days. */
function trialFaults({ id, seats, trialDays }: PaidPlan, { consumers }: SaleRules): string[] {
  if (trialDays === undefined) return [];
  return [
    ...(seats ? [`plans: trialDays of ${id}: leave seats out, because they do not go together with trialDays`] : []),
    ...(consumers?.afterYear
      ? [`plans: trialDays of ${id}: leave consumers.afterYear out, because it does not go together with trialDays`]
      : []),
    // The contract begins with the trial: at the first charge nothing is left to withdraw from.
    ...(consumers && trialDays < consumers.withdrawalDays
      ? [`plans: trialDays of ${id}: write at least ${consumers.withdrawalDays}, the days of consumers.withdrawalDays`]
      : []),
  ];
}

/** Checks how a paid plan is sold. */
export const listSaleFaults = (plan: PaidPlan, rules: SaleRules): string[] => [
  ...seatFaults(plan, rules),
  ...trialFaults(plan, rules),
];
