import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Script } from '../parts/script.tsx';
import { SignUpSteps } from './sign-up-steps.tsx';

/** The specification's section 9: redirect delay after signup. */
const redirectDelayMs = 2000;

/**
 * After the right code: the state `verified`. With scripts it redirects by itself after the specification's 2 seconds; otherwise by its link.
 */
export function ConfirmedPage({ ctx, href }: { ctx: PageContext; href: string }) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="redirect" />
      <SignUpSteps ctx={ctx} current={2} />
      <div className="panel-head" role="status">
        <h1>{t('signUp.confirmed.heading')}</h1>
        <p className="muted">
          {t('signUp.confirmed.text')} {t('signUp.confirmed.lead')}
        </p>
      </div>
      <p data-redirect={redirectDelayMs}>
        <ButtonLink href={href} block>
          {t('signUp.confirmed.continue')}
        </ButtonLink>
      </p>
    </AuthLayout>
  );
}
