import type { PageContext } from '../page-context.ts';
import { SignUpSteps } from '../sign-up/sign-up-steps.tsx';

/** The place of the step PLAN: the last one of a sign-up, of the post-signup flow, or separate. */
export type CheckoutKind = 'sign-up' | 'post-signup' | 'purchase';

export function CheckoutSteps({ ctx, kind }: { ctx: PageContext; kind: CheckoutKind }) {
  return kind === 'purchase' ? null : <SignUpSteps ctx={ctx} current={2} postSignUp={kind === 'post-signup'} />;
}
