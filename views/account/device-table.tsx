import type { ReactNode } from 'react';
import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { Ago } from '../parts/ago.tsx';
import { ButtonLink } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { DialogLink } from '../parts/dialog.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import { activityPath } from './activity-page.tsx';

/** A device as the specification has it (section 3; every listed one is signed in): status, name, last IP, last used, last modified, created. */
interface DeviceRowData {
  id: string;
  name: string;
  ip: string;
  isThis: boolean;
  /** Milliseconds since the epoch. */
  lastUsedAtMs: number;
  createdAtMs: number;
  /** The page that signs it out, or forgets it. */
  href: string;
}

interface SessionRow extends DeviceRowData {
  /** Time of the last authentication there. */
  authTimeMs: number;
}

interface RememberedDeviceRow extends DeviceRowData {
  expiresAtMs: number;
}

/** One page of a longer list. */
export interface Paged<Row> {
  rows: readonly Row[];
  /** From 1. */
  page: number;
  pages: number;
  toHref: (page: number) => string;
}

interface DeviceTablesProps {
  ctx: PageContext;
  sessions: Paged<SessionRow>;
  remembered: Paged<RememberedDeviceRow>;
  /** The limit of signed-in devices, if it is close; `ended`: the number that it has recently signed out. */
  limit?: { max: number; ended: number } | undefined;
  /** Undefined if there are no others. */
  othersHref?: string | undefined;
  nowMs: number;
}

/** The sign-in that began the session is also the last one, apart from what the browser's requests took. */
const sameSignInMs = 60_000;

/** The facts in the rows of each list. */
function createFacts(ctx: PageContext, nowMs: number) {
  const { t, lang } = ctx;
  const day = (timeMs: number) => formatDate(lang, timeMs, 'short');
  const ago = (timeMs: number) => <Ago ctx={ctx} timeMs={timeMs} nowMs={nowMs} />;
  const since = (timeMs: number) => (
    <time dateTime={new Date(timeMs).toISOString()} title={formatDate(lang, timeMs, 'exact')}>
      {day(timeMs)}
    </time>
  );
  const use = ({ lastUsedAtMs, ip }: DeviceRowData): DeviceFact[] => [
    [t('devices.lastUsed'), ago(lastUsedAtMs)],
    [t('devices.address'), ip === '' ? t('devices.unknownAddress') : ip],
  ];
  const lastSignIn = ({ authTimeMs, createdAtMs }: SessionRow): DeviceFact[] =>
    authTimeMs - createdAtMs < sameSignInMs ? [] : [[t('devices.lastConfirmed'), ago(authTimeMs)]];
  return {
    signedIn: (device: SessionRow): DeviceFact[] => [
      ...use(device),
      ...lastSignIn(device),
      [t('devices.since'), since(device.createdAtMs)],
    ],
    rememberedThere: (device: RememberedDeviceRow): DeviceFact[] => [
      ...use(device),
      [t('devices.remembered.since'), since(device.createdAtMs)],
      [t('devices.remembered.until'), day(device.expiresAtMs)],
    ],
  };
}

/** The browsers in which a user is signed in, and those that skip the second factor. */
export function DeviceTables({ ctx, sessions, remembered, limit, othersHref, nowMs }: DeviceTablesProps) {
  const { t } = ctx;
  const { signedIn, rememberedThere } = createFacts(ctx, nowMs);
  return (
    <>
      <Card
        flush
        id="devices"
        title={t('devices.title')}
        note={t('devices.note')}
        act={
          othersHref !== undefined && (
            <DialogLink ctx={ctx} href={othersHref} label={t('devices.signOutOthers')} closeLabel={t('common.close')} />
          )
        }
        actions={
          <ButtonLink kind="link" size="small" href={activityPath}>
            {t('devices.activity.title')}
          </ButtonLink>
        }
      >
        {limit !== undefined && (
          <div className="device-limit">
            <Notice kind="info">
              {[
                t('devices.limit.note', { most: limit.max }),
                ...(limit.ended > 0 ? [t('devices.limit.ended', { count: limit.ended })] : []),
              ].join(' ')}
            </Notice>
          </div>
        )}
        <ul className="items">
          {sessions.rows.map((device) => (
            <DeviceRow
              key={device.id}
              ctx={ctx}
              device={device}
              facts={signedIn(device)}
              // This one is signed out by the header's button.
              act={device.isThis ? undefined : t('devices.signOut')}
            />
          ))}
        </ul>
        <PageLinks ctx={ctx} label={t('devices.pages.label')} {...sessions} />
      </Card>
      {remembered.rows.length > 0 && (
        <Card flush id="remembered-devices" title={t('devices.remembered.title')} note={t('devices.remembered.note')}>
          <ul className="items">
            {remembered.rows.map((device) => (
              <DeviceRow
                key={device.id}
                ctx={ctx}
                device={device}
                facts={rememberedThere(device)}
                act={t('devices.remembered.forget')}
              />
            ))}
          </ul>
          <PageLinks ctx={ctx} label={t('devices.pages.labelRemembered')} {...remembered} />
        </Card>
      )}
    </>
  );
}

type DeviceFact = readonly [label: string, value: ReactNode];

interface DeviceRowProps {
  ctx: PageContext;
  device: DeviceRowData;
  facts: readonly DeviceFact[];
  act: string | undefined;
}

/** Here, and not among the icons of the browser's code: nothing but this page shows them. */
function DeviceIcon({ name }: Pick<DeviceRowData, 'name'>) {
  const isPhone = /android|iphone|ipad|ios/i.test(name);
  return (
    <svg className="icon" width="24" height="24" viewBox="0 0 20 20" fill="none" aria-hidden="true">
      <path
        d={
          isPhone
            ? 'M7 2.5h6a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1zM9 15h2'
            : 'M4.5 4.5h11v8h-11zM2.5 15.5h15'
        }
      />
    </svg>
  );
}

function DeviceRow({ ctx, device: { name, isThis, href }, facts, act }: DeviceRowProps) {
  const { t } = ctx;
  return (
    <li className="device-row">
      <DeviceIcon name={name} />
      <div className="item-words">
        <p className="device-name">
          <strong>{name}</strong> {isThis && <Chip>{t('devices.thisDevice')}</Chip>}
        </p>
        <dl className="device-facts small">
          {facts.map(([label, value]) => (
            <div key={label}>
              <dt className="muted">{label}</dt> <dd>{value}</dd>
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
