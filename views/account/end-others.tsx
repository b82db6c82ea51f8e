import type { PageContext } from '../page-context.ts';
import { Checkbox } from '../parts/checkbox.tsx';

/** The checkbox to sign out all other devices with a change of credentials: ticked unless the user has unticked it. */
export function EndOthers({ ctx, checked = true }: { ctx: PageContext; checked?: boolean | undefined }) {
  return <Checkbox name="endOthers" label={ctx.t('devices.endOthers')} checked={checked} />;
}
