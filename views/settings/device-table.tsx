import { formatAgo, formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { DialogLink } from '../parts/dialog.tsx';
import { Table } from '../parts/table.tsx';

/** A device as the specification has it (section 3): status, name, last IP, last used, last modified, created. */
interface DeviceShown {
  id: string;
  name: string;
  ip: string;
  isThis: boolean;
  /** Milliseconds since the epoch. */
  lastUsedAtMs: number;
  createdAtMs: number;
  /** The page on which it is signed out, or forgotten. */
  href: string;
}

export interface SessionShown extends DeviceShown {
  /** When the member last showed there who they are. */
  authTimeMs: number;
}

export interface RememberedShown extends DeviceShown {
  expiresAtMs: number;
}

export interface DeviceTablesProps {
  ctx: PageContext;
  sessions: readonly SessionShown[];
  remembered: readonly RememberedShown[];
  /** Undefined where there are no others. */
  othersHref?: string | undefined;
  nowMs: number;
}

type Cells = Pick<DeviceTablesProps, 'ctx' | 'nowMs'>;

/** The browsers in which a member is signed in, and those that are not asked for the second step. */
export function DeviceTables(props: DeviceTablesProps) {
  const { ctx, sessions, remembered, othersHref, nowMs } = props;
  const { t, lang } = ctx;
  const day = (timeMs: number) => formatDate(lang, timeMs, 'short');
  return (
    <>
      <Card
        flush
        id="devices"
        title={t('devices.title')}
        note={t('devices.note')}
        actions={
          othersHref !== undefined && (
            <DialogLink ctx={ctx} href={othersHref} label={t('devices.signOutOthers')} closeLabel={t('common.close')} />
          )
        }
      >
        <Table
          caption={t('devices.title')}
          rows={sessions}
          rowKey={({ id }) => id}
          columns={[
            { key: 'name', label: t('devices.device'), cell: ({ name }) => name },
            {
              key: 'status',
              label: t('devices.status'),
              cell: ({ isThis }) =>
                isThis ? <Chip>{t('devices.thisDevice')}</Chip> : <Chip tone="plain">{t('devices.signedIn')}</Chip>,
            },
            {
              key: 'used',
              label: t('devices.lastUsed'),
              cell: (row) => <LastUsed ctx={ctx} nowMs={nowMs} row={row} />,
            },
            {
              key: 'confirmed',
              label: t('devices.lastConfirmed'),
              cell: ({ authTimeMs }) => formatAgo(lang, authTimeMs, nowMs),
            },
            { key: 'since', label: t('devices.since'), cell: ({ createdAtMs }) => day(createdAtMs) },
            {
              key: 'act',
              label: t('devices.act'),
              cell: (row) => !row.isThis && <Act ctx={ctx} row={row} label={t('devices.signOut')} />,
            },
          ]}
        />
      </Card>
      {remembered.length > 0 && (
        <Card flush id="remembered-devices" title={t('devices.remembered.title')} note={t('devices.remembered.note')}>
          <Table
            caption={t('devices.remembered.title')}
            rows={remembered}
            rowKey={({ id }) => id}
            columns={[
              {
                key: 'name',
                label: t('devices.device'),
                cell: ({ name, isThis }) => (
                  <>
                    {name} {isThis && <Chip>{t('devices.thisDevice')}</Chip>}
                  </>
                ),
              },
              {
                key: 'used',
                label: t('devices.lastUsed'),
                cell: (row) => <LastUsed ctx={ctx} nowMs={nowMs} row={row} />,
              },
              { key: 'since', label: t('devices.since'), cell: ({ createdAtMs }) => day(createdAtMs) },
              { key: 'until', label: t('devices.remembered.until'), cell: ({ expiresAtMs }) => day(expiresAtMs) },
              {
                key: 'act',
                label: t('devices.act'),
                cell: (row) => <Act ctx={ctx} row={row} label={t('devices.remembered.forget')} />,
              },
            ]}
          />
        </Card>
      )}
    </>
  );
}

function LastUsed({ ctx, nowMs, row: { lastUsedAtMs, ip } }: Cells & { row: DeviceShown }) {
  const { t, lang } = ctx;
  return (
    <span className="device-used">
      <time dateTime={new Date(lastUsedAtMs).toISOString()}>{formatAgo(lang, lastUsedAtMs, nowMs)}</time>
      <span className="small muted device-ip">{ip === '' ? t('devices.unknownAddress') : ip}</span>
    </span>
  );
}

function Act({ ctx, row: { name, href }, label }: { ctx: PageContext; row: DeviceShown; label: string }) {
  return <DialogLink ctx={ctx} href={href} label={label} context={name} closeLabel={ctx.t('common.close')} />;
}
