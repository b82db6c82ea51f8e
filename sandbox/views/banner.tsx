import type { LayoutBanner, PageContext } from '../../views/page-context.ts';
import { textsFor } from '../texts.ts';

export interface BannerLinks {
  mailbox?: string;
  billing?: string;
  providers?: string;
  refusals?: string;
}

/**
 * Shows at the top of a page that the sandbox is on, with links to its mailbox, its stand-ins for Stripe and for
 * providers, and the refused requests of client apps.
 */
export function createBanner({
  mailbox,
  billing,
  providers,
  refusals,
}: BannerLinks): (ctx: PageContext) => LayoutBanner {
  return (ctx) => {
    const t = textsFor(ctx);
    return {
      top: (
        <aside className="ribbon">
          <span>{t('sandbox.ribbon')}</span>
          {mailbox !== undefined && <a href={mailbox}>{t('sandbox.mailbox')}</a>}
          {billing !== undefined && <a href={billing}>{t('sandbox.billing')}</a>}
          {providers !== undefined && <a href={providers}>{t('sandbox.providers')}</a>}
          {refusals !== undefined && <a href={refusals}>{t('sandbox.refusals')}</a>}
        </aside>
      ),
      dialog: mailbox !== undefined && (
        <p className="only-modal small">
          {t('sandbox.ribbon')} <a href={mailbox}>{t('sandbox.mailbox')}</a>
        </p>
      ),
    };
  };
}
