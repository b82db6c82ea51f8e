import type { GrantableAccess } from '../oidc/index.ts';

/** The part of the catalogue, or of its file, that says what members can have. */
interface Giving {
  plans: readonly { id: string; entitlements: readonly string[] }[];
  trial: { entitlements: readonly string[] };
}

/** What members can have: the plans, and what those and the trial give. */
export const onOffer = ({ plans, trial }: Giving): GrantableAccess => ({
  plans: plans.map(({ id }) => id),
  entitlements: [...new Set([...plans, trial].flatMap(({ entitlements }) => entitlements))],
});
