import type { PageContext } from '../../../views/page-context.ts';
import { Button, ButtonLink } from '../../../views/parts/button.tsx';
import { CodeInput } from '../../../views/parts/code-input.tsx';
import { CopyButton } from '../../../views/parts/copy-button.tsx';
import { DialogLink } from '../../../views/parts/dialog.tsx';
import { DialogCard } from '../../../views/parts/dialog-card.tsx';
import { Loader } from '../../../views/parts/loader.tsx';
import { Notice } from '../../../views/parts/notice.tsx';
import { noticeDurationsMs } from '../../../views/parts/notice-durations.ts';
import { Skeleton } from '../../../views/parts/skeleton.tsx';
import { Snackbar } from '../../../views/parts/snackbar.tsx';
import { Table } from '../../../views/parts/table.tsx';
import { textsFor } from '../../texts.ts';

function Durations({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const { lang } = ctx;
  const seconds = new Intl.NumberFormat(lang, { style: 'unit', unit: 'second', unitDisplay: 'long' });
  const rows = Object.entries(noticeDurationsMs);
  return (
    <Table
      caption={t('parts.messages.durations')}
      rows={rows}
      rowKey={([name]) => name}
      columns={[
        { key: 'name', label: t('parts.messages.duration'), cell: ([name]) => <code>{name}</code> },
        {
          key: 'time',
          label: t('parts.messages.time'),
          cell: ([, ms]) => (ms === null ? t('parts.messages.stays') : seconds.format(ms / 1000)),
          numeric: true,
        },
      ]}
    />
  );
}

function CodeDialog({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  return (
    <DialogCard
      id="specimen-dialog"
      level="h2"
      title={t('parts.messages.dialogTitle')}
      lead={t('parts.messages.dialogLead')}
      closeHref="#dialog"
      closeLabel={t('common.close')}
    >
      <form className="form" method="post" action="/sandbox/parts">
        <CodeInput
          ctx={ctx}
          name="dialog-code"
          label={t('parts.fields.code')}
          length={6}
          incomplete={t('parts.fields.codeError')}
        />
        <div className="actions even">
          <ButtonLink href="#dialog" kind="quiet">
            {t('common.close')}
          </ButtonLink>
          <Button>{t('parts.buttons.primary')}</Button>
        </div>
      </form>
    </DialogCard>
  );
}

export function MessageParts({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  return (
    <>
      <section className="specimens">
        <h3>{t('parts.names.notice')}</h3>
        <Notice kind="info">{t('parts.messages.info')}</Notice>
        <Notice kind="success" title={t('parts.messages.successTitle')}>
          {t('parts.messages.success')}
        </Notice>
        <Notice kind="error">{t('parts.messages.error')}</Notice>
        <Snackbar ctx={ctx} kind="success" text={t('parts.messages.snackbar')} duration="never" />
        <Durations ctx={ctx} />
      </section>
      <section className="specimens" id="dialog">
        <h3>{t('parts.names.dialog')}</h3>
        <div className="actions">
          <DialogLink
            ctx={ctx}
            href="/sandbox/parts"
            label={t('parts.messages.openDialog')}
            closeLabel={t('common.close')}
          />
        </div>
        <CodeDialog ctx={ctx} />
        <div className="message-code">
          <code id="copy-source">JBSWY3DPEHPK3PXP</code>
          <CopyButton ctx={ctx} source="copy-source" label={t('common.copy')} doneLabel={t('common.copied')} />
        </div>
      </section>
      <section className="specimens">
        <h3>{t('parts.names.loader')}</h3>
        <Loader />
        <Skeleton label={t('common.loading')} picture />
      </section>
    </>
  );
}
