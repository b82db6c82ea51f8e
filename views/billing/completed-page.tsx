import { membershipPath } from '../account/tabs.ts';
import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Loader } from '../parts/loader.tsx';
import { Script } from '../parts/script.tsx';
import { Stylesheet } from '../parts/stylesheet.tsx';
import { SuccessTick } from '../parts/success-tick.tsx';
import { type SummaryLine, SummaryList } from '../parts/summary-list.tsx';

/** The specification's section 9: redirect delay after signup. */
const redirectDelayMs = 2000;

/** Plan, payment and next payment. */
export interface Receipt {
  lines: readonly SummaryLine[];
  /** undefined: nothing is paid for this plan yet. */
  total?: SummaryLine;
  /** Its day and its card. */
  included?: readonly SummaryLine[];
  /** A payment has arrived. */
  isPaid?: boolean;
  /** On the next payment. */
  note: readonly string[];
}

interface CompletedPageProps {
  ctx: PageContext;
  /** The result for the plan. */
  resultText?: string | undefined;
  /** Of a paid plan. */
  receipt?: Receipt | undefined;
  /** For a signed-in user: the next page. */
  continueUrl?: string;
  /** For everyone else. */
  signInHref?: string;
}

/** Without the plan, which the line below the heading names, unless it is alone. */
function toShownLines({ lines, total }: Receipt, resultText = ''): readonly SummaryLine[] {
  const [plan, ...others] = lines;
  return plan && (total || others.length > 0) && resultText.includes(plan.amount) ? others : lines;
}

/** A payment takes longer than a request: the answer refreshes the page until it has ended. */
export function PayingPage({ ctx, href }: { ctx: PageContext; href: string }) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx}>
      <div className="waiting">
        <Loader />
        <div className="panel-head" role="status">
          <h1>{t('checkout.paying.title')}</h1>
          <p className="muted">{t('checkout.paying.lead')}</p>
        </div>
        <ButtonLink kind="quiet" href={href} block>
          {t('checkout.paying.look')}
        </ButtonLink>
      </div>
    </AuthLayout>
  );
}

/** 'Just a moment...', and the receipt of a purchase: it redirects by itself after the specification's 2 seconds, or by its link. */
export function CompletedPage({ ctx, resultText, receipt, continueUrl, signInHref }: CompletedPageProps) {
  const { t } = ctx;
  if (continueUrl === undefined) {
    return (
      <AuthLayout ctx={ctx}>
        <div className="panel-head">
          <h1>{t('checkout.completed.signIn')}</h1>
          <p className="muted">{t('checkout.completed.signInLead')}</p>
        </div>
        <ButtonLink href={signInHref ?? '/'} block>
          {t('checkout.completed.login')}
        </ButtonLink>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="redirect" />
      <Stylesheet ctx={ctx} name="checkout" />
      <div className="waiting">
        {resultText === undefined ? <Loader /> : <SuccessTick />}
        <div className="panel-head" role="status">
          <h1>{t('checkout.completed.heading')}</h1>
          <p className="muted">
            {receipt?.isPaid && t('checkout.completed.received')} {resultText} {t('checkout.completed.lead')}
          </p>
        </div>
        {receipt && <SummaryList {...receipt} lines={toShownLines(receipt, resultText)} />}
        <p data-redirect={redirectDelayMs}>
          <ButtonLink href={continueUrl} block>
            {t('checkout.completed.continue')}
          </ButtonLink>
        </p>
        {receipt && (
          <p className="panel-ways">
            <a href={membershipPath}>{t('membership.title')}</a>
            <a href={`${membershipPath}#invoices`}>{t('membership.invoices.title')}</a>
          </p>
        )}
      </div>
    </AuthLayout>
  );
}
