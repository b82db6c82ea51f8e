import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { Script } from '../parts/script.tsx';
import { Stylesheet } from '../parts/stylesheet.tsx';
import { type SummaryLine, SummaryList } from '../parts/summary-list.tsx';
import { BeginBox, type BeginBoxProps } from './begin-box.tsx';
import { DetailsLine, type DetailsView } from './billing-details-fields.tsx';
import { PlanCard, type PlanView } from './checkout-plan-card.tsx';
import { type CheckoutKind, CheckoutSteps, checkoutHeading } from './checkout-steps.tsx';
import { PromoBox, type PromoBoxState, withRemoval } from './promo-box.tsx';
import { SeatsBox, type SeatsBoxState } from './seats-box.tsx';

export interface PlanSummaryPageProps {
  ctx: PageContext;
  steps: CheckoutKind;
  /** The name of a plan that follows the present one. */
  changesTo?: string | undefined;
  /** The page's own address, the target of all its forms. */
  action: string;
  plan: PlanView;
  lead?: string | undefined;
  /** The client app with a pending request. */
  clientName?: string;
  /** Without it there is no choice. */
  changeHref?: string;
  cancelHref: string;
  notice?: PageNoticeProps;
  /** The amounts; without them, they could not be read. */
  quote?: {
    lines: readonly SummaryLine[];
    total?: SummaryLine;
    later?: SummaryLine;
    included?: readonly SummaryLine[];
    note: readonly string[];
    lost?: { label: string; items: readonly string[] };
  };
  /** Of a plan that is sold by the seat. */
  seats?: SeatsBoxState;
  /** Only if something is due. */
  promo?: PromoBoxState;
  /** The charged card, and the time; and the link to another card. */
  card?: { text: string; otherHref: string };
  /** The billing details, and their form. */
  details?: { view: DetailsView; href: string };
  /** Instead of amounts and button: the next page, which they depend on. */
  nextHref?: string;
  /** The text of the main button, and its form's hidden fields. */
  button?: string;
  hidden?: Record<string, string>;
  /** Of an order of which the member owes the days until a withdrawal. */
  begin?: BeginBoxProps;
  /** An order is refused for some time: only "Back" is left. */
  mustWait?: boolean | undefined;
  /** Instead of the button: the same page again. */
  retryHref?: string;
  /** Instead of amounts and button: the page with the address, on which they depend. */
  placeHref?: string;
  /** Instead of amounts and button: that the user has this plan. */
  has?: string;
}

type Part<K extends keyof PlanSummaryPageProps> = Pick<PlanSummaryPageProps, 'ctx' | K>;

function Amounts({ ctx, quote, card, action, promo }: Part<'quote' | 'card' | 'action' | 'promo'>) {
  const { t } = ctx;
  if (quote === undefined) return null;
  const lines = withRemoval({ t, action, state: promo }, quote.lines);
  return (
    <>
      {quote.total === undefined ? (
        <p className="muted">{quote.note.join(' ')}</p>
      ) : (
        <SummaryList {...quote} lines={lines} />
      )}
      {card !== undefined && (
        <p className="field-head">
          <span>{card.text}</span> <a href={card.otherHref}>{t('checkout.otherCard')}</a>
        </p>
      )}
    </>
  );
}

function Buttons(props: PlanSummaryPageProps) {
  const { cancelHref, button, mustWait, retryHref, placeHref, nextHref, has } = props;
  const { t } = props.ctx;
  return (
    <>
      <ButtonLink kind="quiet" href={cancelHref}>
        {t(mustWait ? 'payment.saved.back' : has === undefined ? 'checkout.cancel' : 'checkout.completed.continue')}
      </ButtonLink>
      {button !== undefined && <Button>{button}</Button>}
      {placeHref !== undefined && <ButtonLink href={placeHref}>{t('checkout.place.enter')}</ButtonLink>}
      {nextHref !== undefined && <ButtonLink href={nextHref}>{t('checkout.next')}</ButtonLink>}
      {retryHref !== undefined && <ButtonLink href={retryHref}>{t('checkout.retry')}</ButtonLink>}
    </>
  );
}

function Acts(props: PlanSummaryPageProps) {
  const { action, hidden = {}, begin } = props;
  return (
    <form className={begin ? 'form' : 'actions even'} method="post" action={action}>
      <HiddenFields fields={hidden} />
      {begin && <BeginBox {...begin} />}
      {begin ? (
        <div className="actions even">
          <Buttons {...props} />
        </div>
      ) : (
        <Buttons {...props} />
      )}
    </form>
  );
}

/** Step 2 of a sign-up, and the page of a plan elsewhere: the plan, its price today and later, and the next step. */
export function PlanSummaryPage(props: PlanSummaryPageProps) {
  const { ctx, steps, action, plan, lead, clientName, changeHref, notice, quote, seats, promo, card, ...more } = props;
  const { details, nextHref, has, changesTo } = more;
  const { t } = ctx;
  const words = [
    ...(lead === undefined ? [] : [lead]),
    ...(clientName === undefined ? [] : [t('checkout.then', { clientName })]),
  ];
  return (
    <AuthLayout ctx={ctx} long signOut>
      <Script ctx={ctx} entry="busy" />
      <Stylesheet ctx={ctx} name="checkout" />
      {(promo !== undefined || seats !== undefined) && <Script ctx={ctx} entry="in-place" />}
      <CheckoutSteps ctx={ctx} kind={steps} />
      <div className="panel-head">
        {/* biome-ignore lint/a11y/noAutofocus: the step before had the focus in its code; screen readers read the heading */}
        <h1 tabIndex={-1} autoFocus={steps !== 'purchase'}>
          {checkoutHeading(ctx, changesTo)}
        </h1>
        {words.length > 0 && <p className="muted">{words.join(' ')}</p>}
      </div>
      <PageNotice ctx={ctx} notice={notice} />
      {has !== undefined && <Notice kind="info">{has}</Notice>}
      <PlanCard
        plan={plan}
        change={changeHref === undefined ? undefined : { href: changeHref, label: t('checkout.changePlan') }}
      />
      {seats !== undefined && <SeatsBox t={t} action={action} state={seats} />}
      {promo !== undefined && <PromoBox t={t} action={action} state={promo} lines={quote?.lines ?? []} />}
      <Amounts ctx={ctx} quote={quote} card={card} action={action} promo={promo} />
      {nextHref !== undefined && <p className="muted">{t('payment.details.first')}</p>}
      {details !== undefined && <DetailsLine ctx={ctx} details={details.view} href={details.href} />}
      <Acts {...props} />
    </AuthLayout>
  );
}
