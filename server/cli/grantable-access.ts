import type { GrantableAccess } from '../oidc/index.ts';

/** The part of the catalogue, or of its file, with plans and entitlements. */
interface Giving {
  plans: readonly { id: string; entitlements: readonly string[] }[];
  trial: { entitlements: readonly string[] };
}

/** The plans and entitlements that users can have, including those of the trial. */
export const onOffer = ({ plans, trial }: Giving): GrantableAccess => ({
  plans: plans.map(({ id }) => id),
  entitlements: [...new Set([...plans, trial].flatMap(({ entitlements }) => entitlements))],
});
