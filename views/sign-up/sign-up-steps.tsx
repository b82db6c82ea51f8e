import type { PageContext } from '../page-context.ts';
import { Stepper } from '../parts/stepper.tsx';

/** PROFILE, SECURITY, PLAN; without the first if the account already exists. */
export function SignUpSteps(props: { ctx: PageContext; current: number; postSignUp?: boolean }) {
  const { ctx, current, postSignUp = false } = props;
  const { t } = ctx;
  const steps = [t('common.steps.profile'), t('common.steps.security'), t('common.steps.plan')];
  const left = postSignUp ? 1 : 0;
  return <Stepper t={t} label={t('common.steps.label')} steps={steps.slice(left)} current={current - left} />;
}
