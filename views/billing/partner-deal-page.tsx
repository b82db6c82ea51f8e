import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';
import { Stylesheet } from '../parts/stylesheet.tsx';
import { TickList } from '../parts/tick-list.tsx';

/** One of the two plans, as text. */
interface DealSide {
  label: string;
  name: string;
  price: string;
  when: string;
}

export interface PartnerDealPageProps {
  ctx: PageContext;
  action: string;
  /** The plan that was bought from the partner; without it no deal waits. */
  deal?: {
    /** Hidden fields of Confirm. */
    fields: Record<string, string>;
    /** The effect of Confirm on the present plan. */
    lead: string;
    /** Of the partner's plan. */
    features: readonly string[];
    /** The user's plan, if any, and the partner's. */
    sides: readonly DealSide[];
    /** After how many days the user is asked again. */
    againDays: number;
  };
  /** The page of plans on sale. */
  otherHref?: string;
}

function Side({ label, name, price, when, features }: DealSide & { features: readonly string[] }) {
  return (
    <section className="card">
      <p className="muted small">{label}</p>
      <h2>{name}</h2>
      <p>{price}</p>
      <p className="muted">{when}</p>
      {features.length > 0 && <TickList items={features} />}
    </section>
  );
}

function Deal({
  ctx,
  action,
  deal,
}: Pick<PartnerDealPageProps, 'ctx' | 'action'> & Required<Pick<PartnerDealPageProps, 'deal'>>) {
  const { t } = ctx;
  return (
    <>
      <div className="deal-plans">
        {deal.sides.map((side) => (
          <Side key={side.label} {...side} features={side === deal.sides.at(-1) ? deal.features : []} />
        ))}
      </div>
      <form className="form" method="post" action={action}>
        <HiddenFields fields={deal.fields} />
        <Button block>{t('checkout.confirm')}</Button>
      </form>
      <div className="panel-ways">
        <p className="muted small">{t('checkout.partnerDeal.postpone', { count: deal.againDays })}</p>
        <form method="post" action={action}>
          <Button kind="link" name="act" value="not-now">
            {t('checkout.partnerDeal.notNow')}
          </Button>
        </form>
        <form method="post" action="/logout">
          <Button kind="link">{t('common.header.logout')}</Button>
        </form>
      </div>
    </>
  );
}

/** A deal that a user has bought from the partner, with the specification's Confirm button. */
export function PartnerDealPage({ ctx, action, deal, otherHref }: PartnerDealPageProps) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} long>
      <Script ctx={ctx} entry="busy" />
      <Stylesheet ctx={ctx} name="checkout" />
      <div className="panel-head">
        <h1>{t('checkout.partnerDeal.heading')}</h1>
        {deal !== undefined && <p className="muted">{deal.lead}</p>}
      </div>
      {deal === undefined ? (
        <>
          <Notice kind="info">{t('checkout.partnerDeal.none')}</Notice>
          {otherHref !== undefined && (
            <ButtonLink kind="quiet" block href={otherHref}>
              {t('checkout.partnerDeal.other')}
            </ButtonLink>
          )}
        </>
      ) : (
        <Deal ctx={ctx} action={action} deal={deal} />
      )}
    </AuthLayout>
  );
}
