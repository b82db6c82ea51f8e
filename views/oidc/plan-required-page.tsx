import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { ItemList } from '../parts/item-list.tsx';
import { Script } from '../parts/script.tsx';
import { Pair } from './consent-page.tsx';

export interface NotInPlanPageProps {
  ctx: PageContext;
  clientId: string;
  clientName: string;
  clientLogo?: string | undefined;
  memberEmail: string;
  /** The name of the user's plan; undefined: none. */
  currentPlan?: string | undefined;
  /** The plans that include the client app and are on sale; one of them is recommended. */
  plans: readonly { name: string; price: string; href: string; isRecommended?: boolean }[];
  compareHref: string;
  /** The sign-in of another user. */
  otherAccountHref: string;
  /** The pending request of the client app, to cancel it. Undefined: none is pending. */
  back?: { action: string; fields: Record<string, string> } | undefined;
  dashboardHref: string;
}

/** A client app requires another plan: the reason, and the plans that include it. */
export function NotInPlanPage(props: NotInPlanPageProps) {
  const { ctx, clientName, currentPlan, plans, back } = props;
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} long>
      <Script ctx={ctx} entry="busy" />
      <Pair ctx={ctx} clientId={props.clientId} clientName={clientName} clientLogo={props.clientLogo} />
      <div className="panel-head">
        <h1>{t('dashboard.limited.title', { clientName })}</h1>
        <p className="muted">
          {currentPlan === undefined
            ? t(plans.length === 0 ? 'dashboard.limited.ownNoPlan' : 'dashboard.limited.ownNone')
            : t('dashboard.limited.own', { plan: currentPlan })}
          {plans.length > 0 && ` ${t(back ? 'dashboard.limited.then' : 'dashboard.limited.thenOpen', { clientName })}`}
        </p>
      </div>
      {plans.length === 0 ? (
        <p>
          {t('dashboard.limited.noWay')}{' '}
          {ctx.links.help !== undefined && <a href={ctx.links.help}>{t('dashboard.limited.help')}</a>}
        </p>
      ) : (
        <Card title={t('dashboard.limited.plans', { clientName })} flush>
          <ItemList
            last={
              <ButtonLink href={props.compareHref} kind="link" size="small">
                {t('dashboard.limited.compare')}
              </ButtonLink>
            }
            items={plans.map(({ name, price, href, isRecommended }) => ({
              label: name,
              value: price,
              act: (
                <ButtonLink href={href} kind={isRecommended ? 'primary' : 'quiet'} size="small">
                  {t('dashboard.limited.choose')}
                  <span className="visually-hidden"> {name}</span>
                </ButtonLink>
              ),
            }))}
          />
        </Card>
      )}
      {back === undefined ? (
        <ButtonLink href={props.dashboardHref} kind="quiet" block>
          {t('dashboard.limited.toDashboard')}
        </ButtonLink>
      ) : (
        <form method="post" action={back.action}>
          <HiddenFields fields={back.fields} />
          <Button kind="quiet" block>
            {t('dashboard.limited.back', { clientName })}
          </Button>
        </form>
      )}
      <p className="panel-foot small muted">
        {t('oauth.consent.signedInAs', { email: props.memberEmail })}
        <br />
        <a href={props.otherAccountHref}>{t('dashboard.limited.otherAccount')}</a>
      </p>
    </AuthLayout>
  );
}
