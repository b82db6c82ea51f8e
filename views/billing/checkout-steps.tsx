import type { PageContext } from '../page-context.ts';
import { SignUpSteps, stepTitle } from '../sign-up/sign-up-steps.tsx';

/** The place of the step PLAN: the last one of a sign-up, of the post-signup flow, or separate. */
export type CheckoutKind = 'sign-up' | 'post-signup' | 'purchase';

/** The title of the step. */
export function checkoutTitle({ t }: PageContext, kind: CheckoutKind): string {
  const title = t('checkout.heading');
  return kind === 'purchase' ? title : stepTitle(t, title, { current: 2, postSignUp: kind === 'post-signup' });
}

export function CheckoutSteps({ ctx, kind }: { ctx: PageContext; kind: CheckoutKind }) {
  return kind === 'purchase' ? null : <SignUpSteps ctx={ctx} current={2} postSignUp={kind === 'post-signup'} />;
}
