import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { Script } from '../parts/script.tsx';
import { Stylesheet } from '../parts/stylesheet.tsx';
import { SummaryList } from '../parts/summary-list.tsx';
import { TickList } from '../parts/tick-list.tsx';
import { type CheckoutKind, CheckoutSteps } from './checkout-steps.tsx';

interface TrialStepPageProps {
  ctx: PageContext;
  steps: CheckoutKind;
  /** The user's present plan. */
  trial: {
    name: string;
    features: readonly string[];
    /** Its last day, as text; undefined: Stripe does not know it yet. */
    until: string | undefined;
  };
  /** Zero, as text. */
  due: string;
  /** The client app with a pending request. */
  clientName?: string;
  /** For users who go on with their trial. */
  continueHref: string;
  changeHref: string;
  /** The page for gift codes. */
  giftHref?: string;
  notice?: PageNoticeProps;
  /** Stripe does not answer: the same page again. */
  retryHref?: string;
}

/** Step PLAN of a user who has named no plan: the trial goes on, and a plan can be chosen. */
export function TrialStepPage(props: TrialStepPageProps) {
  const { ctx, steps, trial, due, clientName, continueHref, changeHref, giftHref, notice, retryHref } = props;
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} long signOut>
      <Script ctx={ctx} entry="busy" />
      <Stylesheet ctx={ctx} name="checkout" />
      <CheckoutSteps ctx={ctx} kind={steps} />
      <div className="panel-head">
        {/* biome-ignore lint/a11y/noAutofocus: the step before had the focus in its code; screen readers read the heading */}
        <h1 tabIndex={-1} autoFocus={steps !== 'purchase'}>
          {t('checkout.heading')}
        </h1>
        <p className="muted">
          {t('checkout.later')}
          {clientName !== undefined && ` ${t('checkout.then', { clientName })}`}
        </p>
      </div>
      <PageNotice ctx={ctx} notice={notice} />
      <Card>
        <div className="field-head">
          <h2>{trial.name}</h2>
          {trial.until !== undefined && <Chip tone="ok">{t('checkout.trialFree', { date: trial.until })}</Chip>}
        </div>
        {trial.features.length > 0 && <TickList items={trial.features} />}
        <SummaryList lines={[]} total={{ label: t('checkout.lines.due'), amount: due }} />
      </Card>
      <div className="choice-acts">
        <ButtonLink href={continueHref} block>
          {t('checkout.continueTrial')}
        </ButtonLink>
        {retryHref !== undefined && (
          <ButtonLink kind="quiet" href={retryHref} block>
            {t('checkout.retry')}
          </ButtonLink>
        )}
        <p className="or">{t('checkout.orPlan')}</p>
        <ButtonLink kind="quiet" href={changeHref} block>
          {t('checkout.choosePlan')}
        </ButtonLink>
        {giftHref !== undefined && (
          <ButtonLink kind="link" href={giftHref}>
            {t('checkout.gift.open')}
          </ButtonLink>
        )}
      </div>
    </AuthLayout>
  );
}
