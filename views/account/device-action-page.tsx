import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { AccountAction, ActButtons } from './account-action.tsx';

export interface DeviceActPageProps {
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
        <ActButtons
          submit={<Button kind={act === 'forgetting' ? 'primary' : 'danger'}>{t(`devices.${act}.submit`)}</Button>}
          cancel={t('settings.cancel')}
          tab="device-data"
        />
      </form>
    </AccountAction>
  );
}
