import { PlainLayout } from '../layout/plain-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { PlanCards, type PlanChoice } from '../parts/plan-cards.tsx';
import { Script } from '../parts/script.tsx';
import { SegmentedLinks } from '../parts/segmented-links.tsx';
import { Stylesheet } from '../parts/stylesheet.tsx';
import { type CheckoutKind, CheckoutSteps } from './checkout-steps.tsx';

interface ChangePlanPageProps {
  ctx: PageContext;
  steps: CheckoutKind;
  heading: string;
  /** 'You’re on the trial of Basic. Free until November 27, 2026.' */
  trial?: string;
  /** The page's own address. */
  action: string;
  /** Annual, Monthly. */
  periods: readonly { href: string; label: string; current: boolean }[];
  legend: string;
  plans: readonly PlanChoice[];
  /** Undefined: none is chosen yet. */
  value?: string;
  cancel: { href: string; label: string };
  /** The page for gift codes. */
  giftHref?: string;
  notice?: PageNoticeProps;
  error?: string;
}

/** 'Change Membership Plan': the plans with one interval, and the link to the other. */
export function ChangePlanPage(props: ChangePlanPageProps) {
  const { ctx, steps, heading, trial, action, periods, legend, plans, value, cancel, giftHref, notice, error } = props;
  const { t } = ctx;
  return (
    <PlainLayout ctx={ctx} shape="wide" bare signOut>
      <Script ctx={ctx} entry="busy" />
      <Stylesheet ctx={ctx} name="checkout" />
      <div className="chooser-head">
        <CheckoutSteps ctx={ctx} kind={steps} />
        <h1>{heading}</h1>
        {trial !== undefined && <p className="muted">{trial}</p>}
        <PageNotice ctx={ctx} notice={notice} />
        <SegmentedLinks label={t('common.interval.label')} parts={periods} />
      </div>
      <form className="form chooser" method="post" action={action} noValidate>
        <HiddenFields fields={{ act: 'choose' }} />
        <PlanCards name="planId" legend={legend} plans={plans} error={error} {...(value !== undefined && { value })} />
        <div className="actions even chooser-acts">
          <ButtonLink kind="quiet" href={cancel.href}>
            {cancel.label}
          </ButtonLink>
          <Button>{t('checkout.next')}</Button>
        </div>
      </form>
      {giftHref !== undefined && (
        <p className="chooser-head">
          <a href={giftHref}>{t('checkout.gift.open')}</a>
        </p>
      )}
    </PlainLayout>
  );
}
