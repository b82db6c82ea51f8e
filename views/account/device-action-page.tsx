import type { PageContext } from '../page-context.ts';
import { AccountAction, ActButtons } from './account-action.tsx';

interface DeviceActPageProps {
  ctx: PageContext;
  action: string;
  act: 'ending' | 'endingOthers' | 'forgetting';
  /** Of the device; none for all others. */
  name?: string | undefined;
}

/** Asks before a device is signed out or forgotten. */
export function DeviceActPage({ ctx, action, act, name = '' }: DeviceActPageProps) {
  const { t } = ctx;
  return (
    <AccountAction
      ctx={ctx}
      id="device-act"
      title={t(`devices.${act}.title`)}
      lead={t(`devices.${act}.lead`, { name })}
      tab="device-data"
    >
      <form className="form" method="post" action={action}>
        <ActButtons ctx={ctx} danger={act !== 'forgetting'} submit={t(`devices.${act}.submit`)} tab="device-data" />
      </form>
    </AccountAction>
  );
}
