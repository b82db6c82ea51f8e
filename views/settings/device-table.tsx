import { formatAgo, formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { DialogLink } from '../parts/dialog.tsx';

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

/** The browsers in which a member is signed in, and those that are not asked for the second step. */
export function DeviceTables({ ctx, sessions, remembered, othersHref, nowMs }: DeviceTablesProps) {
  const { t, lang } = ctx;
  const day = (timeMs: number) => formatDate(lang, timeMs, 'short');
  const ago = (timeMs: number) => formatAgo(lang, timeMs, nowMs);
  const used = ({ lastUsedAtMs, ip }: DeviceShown): Fact => [
    t('devices.lastUsed'),
    `${ago(lastUsedAtMs)}, ${ip === '' ? t('devices.unknownAddress') : ip}`,
  ];
  const since = ({ createdAtMs }: DeviceShown): Fact => [t('devices.since'), day(createdAtMs)];
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
        <ul className="items">
          {sessions.map((device) => (
            <DeviceRow
              key={device.id}
              ctx={ctx}
              device={device}
              status={device.isThis ? undefined : t('devices.signedIn')}
              facts={[used(device), [t('devices.lastConfirmed'), ago(device.authTimeMs)], since(device)]}
              // This one is signed out where every page does it.
              act={device.isThis ? undefined : t('devices.signOut')}
            />
          ))}
        </ul>
      </Card>
      {remembered.length > 0 && (
        <Card flush id="remembered-devices" title={t('devices.remembered.title')} note={t('devices.remembered.note')}>
          <ul className="items">
            {remembered.map((device) => (
              <DeviceRow
                key={device.id}
                ctx={ctx}
                device={device}
                facts={[used(device), since(device), [t('devices.remembered.until'), day(device.expiresAtMs)]]}
                act={t('devices.remembered.forget')}
              />
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

type Fact = readonly [label: string, value: string];

interface DeviceRowProps {
  ctx: PageContext;
  device: DeviceShown;
  status?: string | undefined;
  facts: readonly Fact[];
  act: string | undefined;
}

function DeviceRow({ ctx, device: { name, isThis, href }, status, facts, act }: DeviceRowProps) {
  const { t } = ctx;
  return (
    <li className="device-row">
      <div className="item-words">
        <p className="device-name">
          <strong>{name}</strong> {isThis && <Chip>{t('devices.thisDevice')}</Chip>}
          {status !== undefined && <Chip tone="plain">{status}</Chip>}
        </p>
        <dl className="device-facts small">
          {facts.map(([label, value]) => (
            <div key={label}>
              <dt className="muted">{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </div>
      {act !== undefined && (
        <DialogLink ctx={ctx} href={href} label={act} context={name} closeLabel={t('common.close')} />
      )}
    </li>
  );
}
