import type { PageContext } from '../page-context.ts';

/**
 * Shows at the top of a page that the sandbox is on, with links to its mailbox and its stand-ins for Stripe and for
 * providers.
 */
export function SandboxRibbon({ ctx }: { ctx: PageContext }) {
  return (
    <aside className="ribbon">
      <span>{ctx.t('sandbox.ribbon')}</span>
      {ctx.sandbox?.mailbox !== undefined && <a href={ctx.sandbox.mailbox}>{ctx.t('sandbox.mailbox')}</a>}
      {ctx.sandbox?.billing !== undefined && <a href={ctx.sandbox.billing}>{ctx.t('sandbox.billing')}</a>}
      {ctx.sandbox?.providers !== undefined && <a href={ctx.sandbox.providers}>{ctx.t('sandbox.providers')}</a>}
    </aside>
  );
}
