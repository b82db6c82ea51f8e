import type { PageContext } from '../page-context.ts';
import { DialogLink } from '../parts/dialog.tsx';

/** Edit, for one thing of several: leads to its page, which comes up as a dialog where scripts run. */
export function EditLink(props: {
  ctx: PageContext;
  href: string;
  /** What is edited, for those who hear the page. */
  what: string;
  /** Where another word says it better. */
  label?: string;
}) {
  const { ctx, href, what, label = ctx.t('settings.edit') } = props;
  return <DialogLink ctx={ctx} href={href} label={label} context={what} closeLabel={ctx.t('common.close')} />;
}
