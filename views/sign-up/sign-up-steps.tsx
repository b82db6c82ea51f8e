import type { T } from '../../locales/index.ts';
import type { PageContext } from '../page-context.ts';
import { Stepper } from '../parts/stepper.tsx';

/** The title of a page with the steps: "Your plan, step 3 of 3". */
export const stepTitle = (
  t: T,
  title: string,
  { current, postSignUp }: { current: number; postSignUp: boolean },
): string => t('common.steps.title', { title, step: postSignUp ? current : current + 1, steps: postSignUp ? 2 : 3 });

/** PROFILE, SECURITY, PLAN; without the first if the account already exists. */
export function SignUpSteps(props: { ctx: PageContext; current: number; postSignUp?: boolean }) {
  const { ctx, current, postSignUp = false } = props;
  const { t } = ctx;
  const steps = [t('common.steps.profile'), t('common.steps.security'), t('common.steps.plan')];
  const left = postSignUp ? 1 : 0;
  return <Stepper t={t} label={t('common.steps.label')} steps={steps.slice(left)} current={current - left} />;
}
