import type { PageContext } from '../page-context.ts';
import { Checkbox } from '../parts/checkbox.tsx';

/** The offer to sign out all other devices with a change of what signs in: ticked, unless the member has taken the tick away. */
export function EndOthers({ ctx, checked = true }: { ctx: PageContext; checked?: boolean | undefined }) {
  return <Checkbox name="endOthers" label={ctx.t('devices.endOthers')} checked={checked} />;
}
