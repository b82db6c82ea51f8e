import { DoorLayout } from '../layout/door-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';
import { PlanCard, type PlanShown } from './plan-card.tsx';

export interface PartnerDealPageProps {
  ctx: PageContext;
  action: string;
  /** The member has a plan already. */
  upgrade: boolean;
  /** The plan that was bought from the partner; without it none waits. */
  plan?: { id: string; shown: PlanShown };
  /** Where plans are sold. */
  otherHref?: string;
}

/** The deal that a member has bought from the partner, with the specification's Confirm button. */
export function PartnerDealPage({ ctx, action, upgrade, plan, otherHref }: PartnerDealPageProps) {
  const { t } = ctx;
  return (
    <DoorLayout ctx={ctx} long>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('checkout.deal.heading')}</h1>
        {plan !== undefined && <p className="muted">{t(upgrade ? 'checkout.deal.upgrade' : 'checkout.deal.lead')}</p>}
      </div>
      {plan === undefined ? (
        <>
          <Notice kind="info">{t('checkout.deal.none')}</Notice>
          {otherHref !== undefined && (
            <ButtonLink kind="quiet" block href={otherHref}>
              {t('checkout.deal.other')}
            </ButtonLink>
          )}
        </>
      ) : (
        <>
          <PlanCard plan={plan.shown} />
          <p className="muted">{t('checkout.dealNote')}</p>
          <form className="form" method="post" action={action}>
            <HiddenFields fields={{ planId: plan.id }} />
            <Button block>{t('checkout.confirm')}</Button>
          </form>
        </>
      )}
    </DoorLayout>
  );
}
