import type { PageContext } from '../page-context.ts';
import { Stepper } from '../parts/stepper.tsx';

/** PROFILE, SECURITY, PLAN. */
export function SignUpSteps({ ctx, current }: { ctx: PageContext; current: number }) {
  const { t } = ctx;
  const steps = [t('common.steps.profile'), t('common.steps.security'), t('common.steps.plan')];
  return <Stepper t={t} label={t('common.steps.label')} steps={steps} current={current} />;
}
