import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { CopyButton, PrintButton } from '../parts/copy-button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Notice } from '../parts/notice.tsx';
import { SavedCodes } from '../parts/saved-codes.tsx';
import { ActButtons } from './account-action.tsx';
import { EndOthers } from './end-others.tsx';
import { MfaAct } from './mfa-page.tsx';
import { panelAddress } from './tabs.ts';

interface RecoveryCodesPageProps {
  ctx: PageContext;
  /** The page that creates new ones. */
  action: string;
  left: number;
  /** A second factor is enabled, which they can replace. */
  needed: boolean;
}

/** The number that is left, and the link to new ones. */
export function RecoveryCodesPage({ ctx, action, left, needed }: RecoveryCodesPageProps) {
  const { t } = ctx;
  return (
    <MfaAct ctx={ctx} id="recovery-codes" title={t('mfaSettings.codes.title')} lead={t('mfaSettings.codes.lead')}>
      {needed ? (
        <>
          <p>
            <strong>{t('mfaSettings.card.codesLeft', { count: left })}</strong>
          </p>
          <p className="muted">{t('mfaSettings.codes.hidden')}</p>
          <form className="form" method="post" action={action}>
            <p>{t('mfaSettings.codes.newLead')}</p>
            <EndOthers ctx={ctx} />
            <ActButtons ctx={ctx} submit={t('mfaSettings.codes.new')} tab="mfa-data" />
          </form>
        </>
      ) : (
        <>
          <Notice kind="info">{t('mfaSettings.codes.needFactor')}</Notice>
          <div className="actions">
            <ButtonLink href={panelAddress('mfa-data')}>{t('settings.contact.setUp')}</ButtonLink>
          </div>
        </>
      )}
    </MfaAct>
  );
}

interface NewRecoveryCodesPageProps {
  ctx: PageContext;
  codes: readonly string[];
  /** The factor that was just enabled. */
  done?: string | undefined;
  /** The content of the downloaded file. */
  file: string;
  doneHref: string;
}

const listId = 'recovery-codes-list';
const fileName = 'recovery-codes.txt';

/** The page contains the file itself: the codes are stored nowhere else. */
const codesDataUrl = (text: string) => `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;

/** The codes themselves, only this once: to copy, to download, to print. */
export function NewRecoveryCodesPage({ ctx, codes, done, file, doneHref }: NewRecoveryCodesPageProps) {
  const { t } = ctx;
  return (
    <MfaAct ctx={ctx} id="recovery-codes" title={t('mfaSettings.codes.title')} lead={t('mfaSettings.codes.lead')}>
      {done !== undefined && <Notice kind="success">{done}</Notice>}
      <p>{t('mfaSettings.codes.once')}</p>
      {/* One per line, also in a copy. */}
      <section aria-label={t('mfaSettings.codes.list')}>
        <pre className="recovery-codes" id={listId}>
          {codes.join('\n')}
        </pre>
      </section>
      <div className="actions">
        <CopyButton
          ctx={ctx}
          source={listId}
          label={t('mfaSettings.codes.copy')}
          doneLabel={t('mfaSettings.codes.copied')}
        />
        <a className="button quiet small" download={fileName} href={codesDataUrl(file)}>
          {t('mfaSettings.codes.download')}
        </a>
        <PrintButton ctx={ctx} label={t('mfaSettings.codes.print')} />
      </div>
      <NextStep ctx={ctx} href={doneHref} />
    </MfaAct>
  );
}

/** Leads on once the member has said that the codes are saved. The form of a page's address cannot have a query. */
function NextStep({ ctx, href }: { ctx: PageContext; href: string }) {
  const { t } = ctx;
  const [path, query = ''] = href.split('?', 2);
  return (
    <form className="form" method="get" action={path} data-leaves="">
      <HiddenFields fields={Object.fromEntries(new URLSearchParams(query))} />
      <SavedCodes
        ctx={ctx}
        saved={t('mfaSettings.codes.kept')}
        next={t('mfaSettings.codes.next')}
        question={t('mfaSettings.codes.leave')}
      />
    </form>
  );
}
