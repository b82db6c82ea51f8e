import { PlainLayout } from '../layout/plain-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';

const sections = ['agreement', 'account', 'conduct', 'content', 'plans', 'apps', 'liability', 'changes'] as const;

export interface TermsPageProps {
  ctx: PageContext;
  /** `accept` shows the message to read and accept, and the two buttons. */
  mode: 'read' | 'accept';
  action?: string;
  /** Where the member wants to go afterwards; posted as `redirect`. */
  redirect?: string;
  version: { number: number; label: string };
  notice?: { kind: 'error' | 'success'; text: string };
}

function Decision({ ctx, action, redirect, version }: Omit<TermsPageProps, 'mode' | 'notice'>) {
  const { t } = ctx;
  return (
    <form className="decision" method="post" action={action ?? '/tos'}>
      <HiddenFields fields={{ version: String(version.number), ...(redirect === undefined ? {} : { redirect }) }} />
      <div className="decision-bar">
        <p className="decision-question">{t('terms.decideTitle')}</p>
        <div className="actions">
          <Button name="decision" value="accept">
            {t('terms.accept')}
          </Button>
          <Button name="decision" value="decline" kind="quiet">
            {t('terms.decline')}
          </Button>
        </div>
      </div>
    </form>
  );
}

/** The terms of service, to read or to accept (specification, section 4). */
export function TermsPage({ ctx, mode, action, redirect, version, notice }: TermsPageProps) {
  const { t } = ctx;
  const brand = ctx.brand.name;
  return (
    <PlainLayout ctx={ctx} shape="text">
      {notice !== undefined && <Notice kind={notice.kind}>{notice.text}</Notice>}
      {mode === 'accept' && notice === undefined && (
        <Notice kind="info">{t('terms.TERMS_OF_SERVICE_MESSAGE_RESIGN')}</Notice>
      )}
      <article className="prose">
        <h1>{t('terms.title')}</h1>
        <p className="muted">{t('terms.version', { label: version.label })}</p>
        <p className="lead">{t('terms.intro', { brand })}</p>
        <ol className="sections">
          {sections.map((name) => (
            <li key={name}>
              <h2>{t(`terms.sections.${name}.title`)}</h2>
              <p>{t(`terms.sections.${name}.body`, { brand })}</p>
            </li>
          ))}
        </ol>
      </article>
      {mode === 'accept' && <Script ctx={ctx} entry="busy" />}
      {mode === 'accept' && <Decision ctx={ctx} action={action} redirect={redirect} version={version} />}
    </PlainLayout>
  );
}
