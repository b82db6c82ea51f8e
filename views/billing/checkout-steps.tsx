import type { PageContext } from '../page-context.ts';
import { SignUpSteps, stepTitle } from '../sign-up/sign-up-steps.tsx';

/** The place of the step PLAN: the last one of a sign-up, of the post-signup flow, or separate. */
export type CheckoutKind = 'sign-up' | 'post-signup' | 'purchase';

/** The heading of the step. @param changesTo the plan that follows the present one */
export const checkoutHeading = ({ t }: Pick<PageContext, 't'>, changesTo: string | undefined): string =>
  changesTo === undefined ? t('checkout.heading') : t('checkout.changeTo', { plan: changesTo });

/** Its title. */
export function checkoutTitle({ t }: PageContext, kind: CheckoutKind, changesTo?: string): string {
  const title = checkoutHeading({ t }, changesTo);
  return kind === 'purchase' ? title : stepTitle(t, title, { current: 2, postSignUp: kind === 'post-signup' });
}

export function CheckoutSteps({ ctx, kind }: { ctx: PageContext; kind: CheckoutKind }) {
  return kind === 'purchase' ? null : <SignUpSteps ctx={ctx} current={2} postSignUp={kind === 'post-signup'} />;
}
