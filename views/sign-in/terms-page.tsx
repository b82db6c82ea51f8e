import { membershipPath } from '../account/tabs.ts';
import { formatDate } from '../format.ts';
import { PlainLayout } from '../layout/plain-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageNotice } from '../parts/page-notice.tsx';
import { Script } from '../parts/script.tsx';
import { Stylesheet } from '../parts/stylesheet.tsx';
import { LegalText, type LegalTextProps } from './legal-text.tsx';

interface TermsPageProps {
  ctx: PageContext;
  /** `accept` shows the message to read and accept, and the two buttons. */
  mode: 'read' | 'accept';
  /** The user has accepted an earlier version: what has changed since, if the operator has written it. */
  changed?: { summary: LegalTextProps | undefined };
  action?: string;
  /** The user's target afterwards; posted as `redirect`. */
  redirect?: string;
  document: LegalTextProps;
  /** `date`: the day of the change, as in 2026-11-01. */
  version: { number: number; label: string; date?: string };
  /** The user has declined: lists the pages that stay open. */
  declined?: boolean;
  /** The result of the user's decision; an acceptance disappears, everything else stays. */
  notice?: { kind: 'error' | 'success'; text: string };
}

function Decision({
  ctx,
  action,
  redirect,
  version,
}: Omit<TermsPageProps, 'mode' | 'changed' | 'notice' | 'document' | 'declined'>) {
  const { t } = ctx;
  return (
    <form className="decision" method="post" action={action ?? '/tos'}>
      <HiddenFields fields={{ version: String(version.number), ...(redirect === undefined ? {} : { redirect }) }} />
      <div className="decision-bar">
        <p className="decision-question">{t('terms.decideTitle')}</p>
        <div className="actions">
          <Button name="decision" value="decline" kind="quiet">
            {t('terms.decline')}
          </Button>
          <Button name="decision" value="accept">
            {t('terms.accept')}
          </Button>
        </div>
      </div>
    </form>
  );
}

/** The pages that are open to users who have not accepted the terms. */
function WithoutTerms({ ctx: { t } }: Pick<TermsPageProps, 'ctx'>) {
  return (
    <div className="terms-leave">
      <p>{t('terms.leave')}</p>
      <ul>
        <li>
          <a href={membershipPath}>{t('membership.act.cancel')}</a>
        </li>
        <li>
          <a href="/settings/data">{t('leaving.data.title')}</a>
        </li>
        <li>
          <a href="/settings/delete-account">{t('leaving.deletion.title')}</a>
        </li>
      </ul>
    </div>
  );
}

function changedText({ t, lang }: PageContext, { label, date }: TermsPageProps['version']): string {
  if (date === undefined) return t('terms.changed', { label });
  return t('terms.changedOn', { label, date: formatDate(lang, Date.parse(date)) });
}

/** The terms of service, to read or to accept (specification, section 4). */
export function TermsPage({
  ctx,
  mode,
  changed,
  action,
  redirect,
  document,
  version,
  declined,
  notice,
}: TermsPageProps) {
  const { t } = ctx;
  return (
    <PlainLayout ctx={ctx} shape="text">
      {mode === 'accept' && <Stylesheet ctx={ctx} name="terms" />}
      <LegalText
        text={document}
        below={t('terms.version', { label: version.label })}
        asks={
          (mode === 'accept' || notice) && (
            <div className="terms-asks" lang={ctx.lang}>
              {notice?.kind === 'error' && <Notice kind="error">{notice.text}</Notice>}
              {declined && <WithoutTerms ctx={ctx} />}
              {notice?.kind === 'success' && <PageNotice ctx={ctx} notice={{ ...notice, duration: 'terms' }} />}
              {mode === 'accept' && notice === undefined && (
                <Notice kind="info">
                  {changed ? changedText(ctx, version) : t('terms.TERMS_OF_SERVICE_MESSAGE_RESIGN')}
                </Notice>
              )}
            </div>
          )
        }
        summary={changed?.summary}
        numbered
        lifted={mode === 'read'}
      />
      {mode === 'accept' && <Script ctx={ctx} entry="busy" />}
      {mode === 'accept' && <Decision ctx={ctx} action={action} redirect={redirect} version={version} />}
    </PlainLayout>
  );
}
