import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { type RadioCard, RadioCards } from '../parts/radio-cards.tsx';
import { Script } from '../parts/script.tsx';
import { SegmentedLinks } from '../parts/segmented-links.tsx';
import { type CheckoutKind, CheckoutSteps } from './checkout-steps.tsx';

export interface ChangePlanPageProps {
  ctx: PageContext;
  steps: CheckoutKind;
  heading: string;
  /** The page's own address. */
  action: string;
  /** Annual, Monthly. */
  periods: readonly { href: string; label: string; current: boolean }[];
  legend: string;
  cards: readonly RadioCard[];
  value?: string;
  cancelHref: string;
  notice?: PageNoticeProps;
  error?: string;
}

/** 'Change Membership Plan': the plans with one interval, and the link to the other. */
export function ChangePlanPage(props: ChangePlanPageProps) {
  const { ctx, steps, heading, action, periods, legend, cards, value, cancelHref, notice, error } = props;
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} long>
      <Script ctx={ctx} entry="busy" />
      <CheckoutSteps ctx={ctx} kind={steps} />
      <div className="panel-head">
        <h1>{heading}</h1>
      </div>
      <PageNotice ctx={ctx} notice={notice} />
      <SegmentedLinks label={t('common.interval.label')} parts={periods} />
      <form className="form" method="post" action={action} noValidate>
        <HiddenFields fields={{ act: 'choose' }} />
        <RadioCards name="planId" legend={legend} cards={cards} error={error} {...(value !== undefined && { value })} />
        <div className="actions even">
          <ButtonLink kind="quiet" href={cancelHref}>
            {t('checkout.cancel')}
          </ButtonLink>
          <Button>{t('checkout.next')}</Button>
        </div>
      </form>
    </AuthLayout>
  );
}
