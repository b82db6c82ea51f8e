import type { PageContext } from '../page-context.ts';
import { DialogLink } from '../parts/dialog.tsx';

/** Edit, for one of several items: a link to its page, which opens as a dialog with scripts. */
export function EditLink(props: {
  ctx: PageContext;
  href: string;
  /** The edited item, for screen readers. */
  what: string;
  /** A better label than Edit. */
  label?: string;
}) {
  const { ctx, href, what, label = ctx.t('settings.edit') } = props;
  return <DialogLink ctx={ctx} href={href} label={label} context={what} closeLabel={ctx.t('common.close')} />;
}
